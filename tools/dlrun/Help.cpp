#include "tools/dlrun/Options.h"

#include <algorithm>
#include <string_view>
#include <vector>

using namespace dlrun;

static const char head[] =
    R"(dlrun: train a compiled model; a plan needs nothing but this program

Examples:
  dlrun mnist.plan --epochs 2 --save-final mnist.safetensors
  dlrun mnist.plan --data data/mnist --json > events.jsonl
  dlrun mnist.plan --epochs 20 --out runs/mnist --every ckpt=1000
  dlrun resume runs/mnist --set optim.lr=0.001
  dlrun eval mnist.plan --init mnist.safetensors
  dlrun predict mnist.plan --init runs/mnist --out digits.npy
  dlrun generate gpt.plan --init runs/gpt --text "ROMEO:"
  dlrun info mnist.plan
  dlrun bench mnist.plan --threads 1

Usage:
  dlrun PLAN [options]         train, and evaluate after each epoch
  dlrun resume FOLDER [options]
                               go on with a run that was started with --out
  dlrun eval PLAN [options]    evaluate only; a run's FOLDER stands for its plan
                               and its newest weights
  dlrun predict PLAN [options] write what the model predicts for each item
  dlrun generate PLAN [options]
                               go on with a text, token by token
  dlrun bench PLAN [options]   measure steps, with synthetic data
  dlrun info PLAN [--json]     what is in the plan, a run's FOLDER's too
  dlrun -np N PLAN [options]   the same as N processes, one a rank of the mesh

dlrun COMMAND --help shows the options of one command, dlrun --version the version.
)";

namespace {

/// What stands above a command's own options.
struct CommandHelp {
  Command command;
  const char *text;
  /// Options that the text is about, or that change nothing.
  std::vector<std::string_view> apart = {};
};

const CommandHelp commands[] = {
    {Command::Eval,
     R"(dlrun eval PLAN|FOLDER [options]
Runs all evaluations of the model over their whole data sets and prints the means
of their metrics over the items. The weights are those of --init, or the initial
ones; the folder of a run stands for its plan, its data and its newest checkpoint.

  dlrun eval mnist.plan --init mnist.safetensors
  dlrun eval runs/mnist --json
)",
     {"no-shuffle"}},
    {Command::Predict,
     R"(dlrun predict PLAN|FOLDER --init W [options]
Writes what p.predict() of the model returns, for all items in the order of the data.
--out FILE.safetensors takes all tensors, under their names (those of several
predictions as PREDICTION.TENSOR), FILE.npy the only one; without it the file has the
plan's name. Data that the prediction does not use, such as labels, may be missing. The
folder of a run stands for its plan and its newest checkpoint.

  dlrun predict mnist.plan --init mnist.safetensors --data new.npy --out digits.npy
)",
     {"out", "no-shuffle"}},
    {Command::Generate, R"(dlrun generate PLAN|FOLDER --init W [options]
Goes on with a text by what p.generate() of the model says. A token at a time is drawn;
the same seed draws the same. When the model's window is full, it goes on without its
first quarter where dlcc has found caches, else with the last tokens. What goes on with
--text is written as text, with --tokens as numbers. The folder of a run stands for its
plan and its newest checkpoint.

  dlrun generate gpt.plan --init gpt.safetensors --text "ROMEO:" --temperature 0.8
  dlrun generate runs/gpt2 --tokens 464,3290 --max-new-tokens 50 --stop-tokens 50256
)"},
    {Command::Bench, R"(dlrun bench PLAN|FOLDER [options]
Runs steps back to back, without logging, and prints the time of one: median, 10th
and 90th percentile after 10 steps to warm up, and the heap allocations (none). Data
are made up unless --data gives some.

  dlrun bench mnist.plan --threads 1 --seconds 10
)"},
    {Command::Resume, R"(dlrun resume FOLDER [options]
Goes on with a run that was started with --out FOLDER, from its newest checkpoint
and to the same bits, as if it had not been interrupted. The options of its start
hold, but for those that are given again: these hold from then on, if they are
about how long, what is kept, written and watched, settings, turns or data.

  dlrun resume runs/mnist
  dlrun resume runs/mnist --epochs 40 --set optim.lr=0.001
  dlrun resume runs/mnist --from 4000 --set optim.lr=0.0005
)"},
    {Command::Info,
     R"(dlrun info PLAN|FOLDER [--json]
Prints what is in a plan: parameters, states, settings, steps with their kernels
and what each waits for; with --json all of it, buffers and layouts too, as one
document.
)",
     {"json"}},
};

/// A piece of the long help: the option it is about, and its lines.
struct OptionHelp {
  const char *name; ///< null: the title of the lines that follow
  const char *text;
};

constexpr OptionHelp optionTexts[] = {
    {nullptr, "Length"},
    {"epochs", "  --epochs N                   passes over the training data "
               "(default: 1)\n"},
    {"steps",
     R"(  --steps N                    updates, whatever the epoch; of a training
                               0 with --save-final writes the initial weights
)"},
    {"alternate",
     R"(  --alternate STEP:N,STEP:N    turns of a plan's training steps: so many updates of
                               each, in this order (default: one each, in the
                               model's). Epochs are those of the first
)"},
    {nullptr, "Data"},
    {"data",
     R"(  --data [STEP=]PATH           folder of the data files, of all steps or of one;
                               for arrays and tokens also the files, with commas.
                               Pictures without it: $DL_DATA/mnist,
                               fashion-mnist or cifar-10-batches-bin, then the
                               folder named in the model. Any number of items
                               that ends in a batch the plan has a program for
)"},
    {"drop-last",
     R"(  --drop-last                  training leaves out a last batch that is not full
)"},
    {"no-shuffle", "  --no-shuffle                 batches in file order\n"},
    {nullptr, "Weights and settings"},
    {"init",
     R"(  --init FILE.safetensors      start from these weights; all of the model's, and no
                               others. The folder of a run stands for its newest
                               checkpoint; that of a Hugging Face model, its
                               .index.json or 'part-*.safetensors' for all
                               files of it. Several --init: each a part
)"},
    {"init-map",
     R"(  --init-map 'THEIRS=OURS',... names of the --init before it (of all, before the
                               first): whole, their beginning up to a dot ('' for
                               all), or with a '*' for any text
)"},
    {"init-partial",
     R"(  --init-partial               take what fits, and say what does not
)"},
    {"set",
     R"(  --set NAME=VALUE             a setting of the plan, such as optim.lr; 'dlrun info'
                               lists them. Checkpoints keep it
)"},
    {"save-final",
     R"(  --save-final FILE.safetensors
                               write the weights at the end, also when stopped
                               by Ctrl-C, SIGTERM or SIGHUP
)"},
    {"save-metrics",
     R"(  --save-metrics FILE.safetensors
                               write all metrics of the last step, any shape; of
                               the one that --halt-on ends, too
)"},
    {"seed", "  --seed N                     of initial weights, order and "
             "dropout (default: 0)\n"},
    {nullptr, "Generation"},
    {"text", "  --text TEXT                  to go on with, as its bytes "
             "(default: a line's end)\n"},
    {"text-file",
     "  --text-file FILE             the same in a file; -: from standard "
     "input\n"},
    {"tokens", "  --tokens N,N,...             the same as numbers\n"},
    {"max-new-tokens",
     "  --max-new-tokens N           how many (default: 200)\n"},
    {"stop",
     R"(  --stop TEXT                  a text ends behind what it has written of this;
                               several end it behind the first
)"},
    {"stop-tokens", "  --stop-tokens N,N,...        or behind one of these\n"},
    {"samples",
     "  --samples N                  so many texts, each by draws of "
     "its own (default: 1)\n"},
    {"temperature",
     R"(  --temperature X              logits are divided by it (default: 1); 0 takes
                               the likeliest token each time
)"},
    {"top-k",
     "  --top-k N                    of the N likeliest tokens only\n"},
    {"top-p",
     R"(  --top-p X                    of the least number of likeliest ones that have
                               this share together
)"},
    {"min-p",
     R"(  --min-p X                    of tokens only that are at least X times as likely
                               as the likeliest
)"},
    {"repetition-penalty",
     R"(  --repetition-penalty X       a positive logit of a token that the text has is
                               divided by it, a negative one multiplied
)"},
    {"generation",
     "  --generation NAME            which p.generate(), if there are "
     "several\n"},
    {nullptr, "Output"},
    {"json", "  --json                       events on stdout, one JSON object "
             "a line, with\n                               \"seconds\" since "
             "the start\n"},
    {"every",
     R"(  --every log=N,eval=N,ckpt=N  report each N steps; evaluate each N steps (0: never)
                               and not after each epoch; with --steps also after
                               the last one; write a checkpoint each N steps, or
                               ckpt=10min (s, min, h) after so long
)"},
    {"halt-on",
     R"(  --halt-on nan,inf,'loss>10'  stop (exit 1) when a metric of a step or of an
                               evaluation is not a number, infinite, or the one
                               named (loss, test.loss) goes beyond a number
                               (> >= < <=)
)"},
    {"stop-when",
     R"(  --stop-when 'test.loss not better in 5'
                               end (exit 0) when so many evaluations in a row have
                               found no better value; 'max:NAME not …' where a
                               larger one is better and the name does not tell
)"},
    {"keep-best",
     R"(  --keep-best max:test.accuracy
                               the weights with the best value of an evaluation's
                               metric stay in FOLDER/best.safetensors (max: or min:)
)"},
    {"quiet",
     R"(  -q, --quiet                  no progress and no notes; results, warnings and
                               errors only
)"},
    {nullptr, "Folder of a run"},
    {"out",
     R"(  --out FOLDER                 checkpoints and logs (CSV, JSON lines,
                               TensorBoard) go there; a checkpoint at the end,
                               when stopped, each 10 min, and after an epoch that
                               ends 30 s after the last one
)"},
    {"keep",
     "  --keep N                     so many checkpoints (default: 3; 0: "
     "all), and the\n                               newest without NaN\n"},
    {"from",
     R"(  --from STEP                  go on from the checkpoint of this step, which must be
                               there; newer ones move to FOLDER/old-1, beside
                               copies of the logs. Once: without it the run goes
                               on from there
)"},
    {"resume",
     R"(  --resume=auto                go on if the folder holds this run (default:
                               never, which refuses such a folder)
)"},
    {"plan",
     R"(  --plan NEW.plan              go on under a plan that was compiled again, with
                               weights, optimizer state, step and position, where
                               all names and shapes are the same
)"},
    {nullptr, "Machine"},
    {"threads", "  --threads N                  default: one per core\n"},
    {"isa",
     R"(  --isa=v3|v4|v4+avx512bf16|v4+amxbf16
                               use the kernels for this level of x86-64
)"},
    {"own-kernels",
     R"(  --own-kernels                no product is left to cuBLASLt: all of the plan's
                               kernels, and other last bits
)"},
    {"flush-denormals",
     R"(  --flush-denormals            numbers below the smallest normal one, 1.2e-38 in
                               f32, count as 0: they are rare, can slow a CPU down,
                               and may change last bits (torch.set_flush_denormal)
)"},
    {"seconds",
     "  --seconds S                  how long (default: 3); or --steps N\n"},
    {nullptr, "Many ranks in this process"},
    {"ranks",
     R"(  --ranks N                    refuse a plan for another number of ranks; without
                               a launcher all ranks of a plan run here
)"},
    {"link",
     R"(  --link latency=20us,bandwidth=1GB/s
                               communications take the time of such a network, by
                               sleeping
)"},
    {nullptr, "Processes"},
    {"np",
     R"(  -np N                        run as N processes, started by the MPI of this
                               machine (mpirun) or by srun; mpirun -np N dlrun
                               PLAN and srun dlrun PLAN work, too
)"},
    {"H", "  -H HOST:N,...                where, and how many on each\n"},
    {"hostfile",
     R"(  --hostfile FILE              the same in the launcher's file format
)"},
    {"dry-run",
     R"(  --dry-run                    print the launcher's command and do nothing
)"},
    {"hang-timeout",
     R"(  --hang-timeout S             end when no rank makes progress for S seconds
                               (default: 10, or 20 median steps if longer)
)"},
    {"log-dir",
     R"(  --log-dir FOLDER             keep each rank's words; only rank 0 talks
)"},
    {nullptr, "Looking inside"},
    {"trace",
     R"(  --trace FILE.json            what each thread did when, for ui.perfetto.dev: the
                               last 65,536 commands of a thread
)"},
    {"detect-anomaly",
     R"(  --detect-anomaly             end at the first NaN of a weight or a metric, and
                               name the kernel in which it begins, with its lines
                               (dlcc -fno-fuse: each op has one); slow
)"},
    {"order",
     R"(  --order random:SEED          ready commands in random order, after random delays
)"},
    {"poison",
     R"(  --poison                     dead bytes of the arena hold NaN. Both are slow and
                               must not change any result
)"},
};

constexpr const char exitCodes[] = R"(
Exit codes: 0 done, 1 training or its data failed, 2 wrong use, 3 no memory or
  not in this version, 4 cannot read or write, 5 the plan is damaged or does not
  fit the machine, or ranks do not agree, 6 a rank died or hung, 70 our bug,
  75 stopped by SIGTERM, SIGHUP or SIGUSR1 with a checkpoint in --out, 129, 130
  and 143 stopped by SIGHUP, SIGINT and SIGTERM.
)";

/// The options that one of the commands has, under their titles.
template <typename Wanted> std::string optionList(Wanted &&wanted) {
  std::string text;
  const char *title = nullptr;
  for (const OptionHelp &option : optionTexts) {
    if (!option.name) {
      title = option.text;
      continue;
    }
    if (!wanted(option.name))
      continue;
    if (title)
      text += std::string(title) + "\n";
    title = nullptr;
    text += option.text;
  }
  return text;
}

} // namespace

std::string dlrun::helpText(const Options &options) {
  if (options.commandNamed)
    for (const CommandHelp &command : commands)
      if (command.command == options.command)
        return command.text + std::string("\n") +
               optionList([&](std::string_view name) {
                 return takesOption(options.command, name) &&
                        std::ranges::find(command.apart, name) ==
                            command.apart.end();
               });
  std::string text = head;
  if (!options.longHelp)
    return text + "\ndlrun --help shows all options.\n";
  return text + "\n" + optionList([](std::string_view) { return true; }) +
         exitCodes;
}
