#include "tools/dlrun/Options.h"

using namespace dlrun;

static const char head[] =
    R"(dlrun: train a compiled model; a plan needs nothing but this program

Examples:
  dlrun mnist.plan --epochs 2 --save-final mnist.safetensors
  dlrun mnist.plan --data data/mnist --json > events.jsonl
  dlrun mnist.plan --epochs 20 --out runs/mnist --every ckpt=1000
  dlrun resume runs/mnist
  dlrun eval mnist.plan --init mnist.safetensors
  dlrun info mnist.plan
  dlrun bench mnist.plan --threads 1

Usage:
  dlrun PLAN [options]         train, and evaluate after each epoch
  dlrun resume FOLDER [options]
                               go on with a run that was started with --out
  dlrun eval PLAN [options]    evaluate only
  dlrun bench PLAN [options]   measure steps, with synthetic data
  dlrun info PLAN [--json]     what is in the plan
)";

static const char rest[] = R"(
Length
  --epochs N                   passes over the training data (default: 1)
  --steps N                    updates, whatever the epoch
Data
  --data [STEP=]PATH           folder of the data files, of all steps or of one;
                               for .npy data sets also their files, with commas
                               (MNIST without it: $DL_DATA/mnist, then the
                               folder named in the model)
  --no-shuffle                 batches in file order
Weights
  --init FILE.safetensors      start from these weights
  --save-final FILE.safetensors
                               write the weights at the end, also when stopped
                               by Ctrl-C or SIGTERM
  --save-metrics FILE.safetensors
                               write all metrics of the last step, any shape
  --seed N                     of initial weights, order and dropout (default: 0)
Output
  --json                       events on stdout, one JSON object a line
  --every log=N,eval=N,ckpt=N  report each N steps; evaluate each N steps and
                               not after each epoch (0: never); write a
                               checkpoint each N steps
  --halt-on nan,inf,'loss>10'  stop (exit 1) when a metric of a step is not a
                               number, infinite, or the one named goes beyond a
                               number (> >= < <=)
  -q, --quiet                  no progress and no notes; results, warnings and
                               errors only
Folder of a run
  --out FOLDER                 checkpoints and logs (CSV, JSON lines,
                               TensorBoard) go there; at least one checkpoint at
                               the end, when stopped, and after an epoch that
                               ends 30 s after the last one
  --keep N                     so many checkpoints (default: 3; 0: all)
  --resume=auto                go on if the folder holds this run (default:
                               never, which refuses such a folder)
Machine
  --threads N                  default: one per core
  --isa=v3|v4                  use the kernels for x86-64-v3 or -v4
  --seconds S                  bench: how long (default: 3); or --steps N
Looking inside
  --trace FILE.json            what each thread did when, for ui.perfetto.dev: the
                               last 65,536 commands of a thread
  --order random:SEED          ready commands in random order, after random delays
  --poison                     dead bytes of the arena hold NaN. Both are slow and
                               must not change any result

Exit codes: 0 done, 1 training or its data failed, 2 wrong use, 3 no memory or
  not in this version, 4 cannot read or write, 5 the plan is damaged or does not
  fit the machine, 70 our bug, 75 stopped by SIGTERM or SIGUSR1 with a
  checkpoint in --out, 130 and 143 stopped by SIGINT and SIGTERM.
)";

std::string dlrun::helpText(bool full) {
  std::string text = head;
  return full ? text + rest : text + "\ndlrun --help shows all options.\n";
}
