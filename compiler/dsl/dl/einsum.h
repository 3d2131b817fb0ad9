#pragma once
// torch.einsum: the dims of operands have letters; what the result does not
// name is summed.
#include "diagonals.h"
#include "products.h"

namespace dl {

namespace detail {

/// An equation with the dims of its operands named, and what is wrong with it.
/// The dims that "..." stands for get letters that the equation has not.
class Equation {
public:
  static constexpr int kMost = 16;
  const char *text;
  Labels operands[kMost], result;
  int count = 0;

  Equation(const char *text, list<Tensor> tensors) : text(text) {
    if (!text)
      fail("einsum: the equation is null");
    if (tensors.size() == 0 || tensors.size() > kMost)
      fail("einsum: {} operands; 1 to {} are wanted",
           static_cast<i64>(tensors.size()), kMost);
    for (const char *at = text; *at; ++at)
      used.add(*at);
    const char *at = text;
    for (const Tensor &tensor : tensors) {
      if (count && *at++ != ',')
        wrong("names {} of {} operands", count,
              static_cast<i64>(tensors.size()));
      readOperand(at, tensor.sizes());
    }
    if (*at == ',')
      wrong("names more operands than the {} that there are", count);
    if (*at)
      readResult(at += 2);
    else
      implicit();
  }

  template <class... Args>
  [[noreturn]] void wrong(const char *problem, const Args &...arguments) const {
    char format[128] = "einsum: \"{}\" ";
    char *end = format;
    while (*end)
      ++end;
    while (*problem)
      *end++ = *problem++;
    fail(format, text, printed(arguments)...);
  }

  /// A letter that nothing has, from now on taken.
  char unused() {
    for (char label = 'A'; label <= 'z'; ++label)
      if (isLetter(label) && !used.has(label)) {
        used.add(label);
        return label;
      }
    wrong("has too many names");
  }

private:
  /// The letters that are taken.
  struct Set {
    bool member[128]{};
    void add(char c) {
      if (c > 0)
        member[static_cast<int>(c)] = true;
    }
    bool has(char c) const { return member[static_cast<int>(c)]; }
  } used;
  struct Letter {
    char text[2]{};
    operator const char *() const { return text; }
  };
  /// Of the dims that "..." stands for, the last one first.
  Labels around;
  int widest = 0;

  static Letter printed(char label) { return {{label, 0}}; }
  template <class T> static const T &printed(const T &value) { return value; }
  static bool isLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }

  /// The letters up to the next comma or arrow, and how many of them stand
  /// before "...", or -1.
  int read(Labels &labels, const char *&at) {
    int before = -1;
    for (;; ++at) {
      if (*at == ' ')
        continue;
      if (!*at || *at == ',' || (at[0] == '-' && at[1] == '>'))
        return before;
      if (at[0] == '.' && at[1] == '.' && at[2] == '.') {
        if (before >= 0)
          wrong("has \"...\" twice for one tensor");
        before = labels.count;
        at += 2;
        continue;
      }
      if (!isLetter(*at))
        wrong("has '{}', which is no letter", *at);
      labels.add(*at);
    }
  }
  /// `dims` names in place of "...".
  Labels spread(const Labels &labels, int before, int dims) {
    while (around.count < dims)
      around.add(unused());
    widest = dims > widest ? dims : widest;
    Labels all;
    for (int i = 0; i <= labels.count; ++i) {
      for (int j = dims; i == before && j > 0; --j)
        all.add(around.text[j - 1]);
      if (i < labels.count)
        all.add(labels.text[i]);
    }
    return all;
  }
  void readOperand(const char *&at, const Shape &shape) {
    Labels labels;
    int before = read(labels, at), rest = shape.rank - labels.count;
    if (before < 0 ? rest != 0 : rest < 0)
      wrong("names {} dims of operand {}, which is {}", labels.count, count,
            shape);
    operands[count++] = spread(labels, before, before < 0 ? 0 : rest);
  }
  void readResult(const char *at) {
    int before = read(result, at);
    if (*at)
      wrong("goes on behind the result");
    for (int i = 0; i < result.count; ++i) {
      bool known = false;
      for (int j = 0; j < count; ++j)
        known |= operands[j].has(result.text[i]);
      if (!known)
        wrong("names '{}' in the result, which no operand has", result.text[i]);
      if (result.find(result.text[i]) != i)
        wrong("names '{}' twice in the result", result.text[i]);
    }
    if (before >= 0)
      result = spread(result, before, widest);
  }
  /// Without "->": the dims of "...", and what stands there once, in
  /// alphabetical order.
  void implicit() {
    result = spread(result, 0, widest);
    for (char label = 'A'; label <= 'z'; ++label) {
      int times = 0;
      for (const char *at = text; *at; ++at)
        times += *at == label;
      if (isLetter(label) && times == 1)
        result.add(label);
    }
  }
};

/// An operand of einsum on its way to the result.
struct Named {
  Tensor x;
  Labels labels;

  /// One dim for each name.
  void takeDiagonals() {
    for (int i = 0; i < labels.count; ++i)
      for (int j = i + 1; j < labels.count; ++j)
        if (labels.text[i] == labels.text[j]) {
          char label = labels.text[i];
          x = x.diagonal(0, i, j);
          Labels rest;
          for (int k = 0; k < labels.count; ++k)
            if (k != i && k != j)
              rest.add(labels.text[k]);
          rest.add(label);
          labels = rest;
          i = -1;
          break;
        }
  }
  /// Sums over the dims of more than one element that `kept` refuses, or of
  /// all elements.
  template <class Kept> void sumOthers(Kept kept, bool ones) {
    Shape shape = x.sizes(), dims;
    Labels rest;
    for (int i = 0; i < labels.count; ++i)
      if (!kept(labels.text[i]) && (ones || shape[i] != 1))
        dims.push_back(i);
      else
        rest.add(labels.text[i]);
    if (dims.rank)
      x = x.sum(dims);
    labels = rest;
  }
  void order(const Labels &result) {
    Shape dims;
    bool same = true;
    for (int i = 0; i < result.count; ++i) {
      dims.push_back(labels.find(result.text[i]));
      same &= dims[i] == i;
    }
    if (!same)
      x = x.permute(dims);
  }
};

/// The product of two, which keeps the dims of `result`.
inline Named product(Equation &names, Named a, Named b, const Labels &result) {
  Labels left = a.labels; // as the result names them
  for (int i = 0; i < left.count; ++i) {
    int j = b.labels.find(left.text[i]);
    i64 da = a.x.size(i), db = j < 0 ? da : b.x.size(j);
    if (da == db)
      continue;
    if (da != 1 && db != 1)
      names.wrong("has '{}', which is {} in {} and {} in {}", left.text[i], da,
                  a.x.sizes(), db, b.x.sizes());
    // Repeated for the other operand's: a name of its own.
    (da == 1 ? a.labels.text[i] : b.labels.text[j]) = names.unused();
  }
  // What only one operand has and the result has not is summed first.
  auto needed = [&](const Labels &other) {
    return [&](char c) { return other.has(c) || result.has(c); };
  };
  a.sumOthers(needed(b.labels), false);
  b.sumOthers(needed(a.labels), false);
  return {contract(a.x, a.labels, b.x, b.labels, result), result};
}

} // namespace detail

/// "bthd,bshd->bhts"; operands are multiplied from left to right.
inline Tensor einsum(const char *equation, list<Tensor> operands) {
  detail::Called called("einsum");
  detail::Equation names(equation, operands);
  detail::Named whole;
  int i = 0;
  for (const Tensor &operand : operands) {
    detail::Named next{operand, names.operands[i]};
    next.takeDiagonals();
    if (i++ == 0) {
      whole = next;
      continue;
    }
    // What the result or an operand behind these has.
    detail::Labels kept;
    if (i == names.count) {
      kept = names.result;
    } else {
      auto keep = [&](char label) {
        bool needed = names.result.has(label);
        for (int j = i; j < names.count; ++j)
          needed |= names.operands[j].has(label);
        if (needed && !kept.has(label))
          kept.add(label);
      };
      for (const char *at = whole.labels.text; *at; ++at)
        keep(*at);
      for (const char *at = next.labels.text; *at; ++at)
        keep(*at);
    }
    whole = detail::product(names, whole, next, kept);
  }
  if (names.count > 1)
    return whole.x;
  whole.sumOthers([&](char c) { return names.result.has(c); }, true);
  whole.order(names.result);
  return whole.x.id == operands.begin()->id ? detail::copied(whole.x) : whole.x;
}
template <class... T>
Tensor einsum(const char *equation, const Tensor &first, const T &...rest) {
  return einsum(equation, list<Tensor>{first, rest...});
}

} // namespace dl
