// A program with a network of its own: it draws points, trains on them, asks
// about a grid and shows the answer. No file but the plan is read, and no
// compiler, Python or framework is there when it runs.
#include <dlrun.hpp>

#include <cmath>
#include <cstdio>
#include <random>

struct Points {
  std::vector<float> at; // x, y of each
  std::vector<std::int64_t> arm;
};

static Points draw(std::size_t count, std::mt19937 &random) {
  std::uniform_real_distribution<float> turns(0.1f, 1);
  std::normal_distribution<float> noise(0, 0.02f);
  Points points;
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t arm = random() % 2;
    float radius = turns(random), angle = 9 * radius + 3.14159f * float(arm);
    points.at.push_back(radius * std::cos(angle) + noise(random));
    points.at.push_back(radius * std::sin(angle) + noise(random));
    points.arm.push_back(arm);
  }
  return points;
}

static void show(const dlrun::Step &arm) {
  constexpr int rows = 22, columns = 46;
  std::vector<float> grid;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      grid.push_back(2.2f * (float(column) + 0.5f) / columns - 1.1f);
      grid.push_back(1.1f - 2.2f * (float(row) + 0.5f) / rows);
    }
  dlrun::Tensor answer = arm({grid})[0]; // [rows * columns, 2]
  const float *probability = answer.data<float>();
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column)
      std::putchar(probability[2 * (row * columns + column)] > 0.5f ? '#'
                                                                    : '.');
    std::putchar('\n');
  }
}

int main(int argc, char **argv) try {
  dlrun::Model model(argc > 1 ? argv[1] : "spirals.plan");
  dlrun::Step train = model.step("train"), test = model.step("test");

  std::mt19937 random(1);
  Points unseen = draw(1000, random);
  for (int update = 1; update <= 2000; ++update) {
    Points batch = draw(train.batch_size(), random);
    double loss = train({batch.at, batch.arm})["loss"].item();
    if (update % 400 == 0) {
      double accuracy = test({unseen.at, unseen.arm})["accuracy"].item();
      std::printf("update %4d  loss %.4f  test accuracy %.3f\n", update, loss,
                  accuracy);
    }
  }
  show(model.step("arm"));
  if (argc > 2)
    model.save_weights(
        argv[2]); // .safetensors, with PyTorch's names and shapes
} catch (const std::exception &error) {
  std::fprintf(stderr, "spirals: %s\n", error.what());
  return 1;
}
