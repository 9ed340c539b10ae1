// SPDX-License-Identifier: Apache-2.0
// Einstein sums. Every label has a stride in every operand (0 where it does not occur, the sum of
// the strides where it occurs twice), so one or two operands are a batched matrix product with
// gathered rows and columns; more operands are summed term by term.
#include <algorithm>

#include "kernels/cpu/ref/gemm.h"
#include "kernels/cpu/ref/runs.h"
#include "kernels/cpu/ref/state.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;

constexpr int kMaxOperands = 8;
constexpr int kLetters = 52;
constexpr int kLabels = kLetters + kMaxRank;  // letters, then the axes of the ellipsis

/// The equation, resolved against the operands' dims.
struct Equation {
  int operands = 0;
  int64_t dim[kLabels] = {};  ///< 0 for labels that do not occur
  bool used[kLabels] = {};
  int64_t stride[kMaxOperands][kLabels] = {};
  int output[kLabels] = {};  ///< labels of the result, in order
  int output_count = 0;
  int64_t output_stride[kLabels] = {};
  bool kept[kLabels] = {};  ///< occurs in the result
  int occurrences[kLetters] = {};
  int ellipsis_rank = 0;

  static int letter(char ch) {
    if (ch >= 'A' && ch <= 'Z') return ch - 'A';
    if (ch >= 'a' && ch <= 'z') return ch - 'a' + 26;
    return -1;
  }

  static void skip_spaces(const char*& at) {
    while (*at == ' ') ++at;
  }

  /// Takes one axis of operand i (or of the result) under `label`.
  bool bind(Checker& c, int i, int label, const Dims& d, int axis) {
    const int64_t n = d[axis];
    if (!used[label] || (dim[label] == 1 && n != 1)) dim[label] = n;
    used[label] = true;
    if (n != 1) stride[i][label] += d.stride(axis);
    return c.require(n == dim[label] || n == 1,
                     "axis %d of operand %d has dim %lld where its label stands for %lld", axis, i,
                     static_cast<long long>(n), static_cast<long long>(dim[label]));
  }

  /// Reads one operand's term; `at` ends at ',', '-' or the end.
  bool read_term(Checker& c, const char*& at, int i) {
    const Dims d = c.dims_in(i);
    const char* p = at;
    int letters = 0;
    bool dots = false;
    for (skip_spaces(p); *p != '\0' && *p != ',' && *p != '-'; skip_spaces(p)) {
      if (*p == '.') {
        if (!c.require(!dots && p[1] == '.' && p[2] == '.', "misplaced '.' in the equation"))
          return false;
        dots = true;
        p += 3;
      } else {
        if (!c.require(letter(*p) >= 0, "'%c' in the equation is no label", *p)) return false;
        ++letters;
        ++p;
      }
    }
    if (!c.require(dots ? letters <= d.rank : letters == d.rank,
                   "operand %d has rank %d and %d labels", i, d.rank, letters))
      return false;
    const int extra = d.rank - letters;
    ellipsis_rank = std::max(ellipsis_rank, extra);
    int axis = 0;
    for (skip_spaces(at); at != p; skip_spaces(at)) {
      if (*at == '.') {
        // The ellipsis' axes broadcast aligned at the right: the last one is label kLabels - 1.
        for (int e = 0; e < extra; ++e)
          if (!bind(c, i, kLabels - extra + e, d, axis++)) return false;
        at += 3;
      } else {
        const int label = letter(*at++);
        ++occurrences[label];
        if (!bind(c, i, label, d, axis++)) return false;
      }
    }
    return true;
  }

  void keep(int label) {
    output[output_count++] = label;
    kept[label] = true;
  }

  void keep_ellipsis() {
    for (int e = 0; e < ellipsis_rank; ++e) keep(kLabels - ellipsis_rank + e);
  }

  bool read_output(Checker& c, const char* at) {
    skip_spaces(at);
    if (*at == '\0') {
      keep_ellipsis();
      for (int l = 0; l < kLetters; ++l)
        if (occurrences[l] == 1) keep(l);
      return true;
    }
    if (!c.require(at[0] == '-' && at[1] == '>', "the equation has '%.10s' where '->' was expected",
                   at))
      return false;
    bool dots = false;
    for (at += 2, skip_spaces(at); *at != '\0'; skip_spaces(at)) {
      if (*at == '.') {
        if (!c.require(!dots && at[1] == '.' && at[2] == '.', "misplaced '.' in the equation"))
          return false;
        dots = true;
        keep_ellipsis();
        at += 3;
        continue;
      }
      const int label = letter(*at);
      if (!c.require(label >= 0 && used[label] && !kept[label],
                     "'%c' in the result is no label of the operands or occurs twice", *at))
        return false;
      keep(label);
      ++at;
    }
    return true;
  }

  bool read(Checker& c) {
    operands = c.in_count();
    const char* at = c.text("equation");
    for (int i = 0; i < operands; ++i) {
      if (i > 0 && !c.require(*at++ == ',', "the equation has fewer terms than operands"))
        return false;
      if (!c.ok() || !read_term(c, at, i)) return false;
    }
    if (!c.require(*at != ',', "the equation has more terms than the %d operands", operands) ||
        !read_output(c, at))
      return false;
    Dims want;
    if (!c.require(output_count <= kMaxRank, "the result would have rank %d; the limit is %d",
                   output_count, kMaxRank))
      return false;
    for (int o = 0; o < output_count; ++o) want[want.rank++] = dim[output[o]];
    if (!c.shape_out(0, want)) return false;
    for (int o = 0; o < output_count; ++o) output_stride[output[o]] = want.stride(o);
    return true;
  }
};

/// A set of labels flattened into one index; strides of both operands and the result.
struct Group {
  int count = 0;
  int labels[kLabels] = {};
  int64_t size = 1;
  std::uint64_t tables[3] = {};  ///< scratch: offsets in a, b and the result for every index

  void add(Checker& c, int label, int64_t dim) {
    labels[count++] = label;
    if (c.require(std::max<int64_t>(dim, 1) <= (int64_t{1} << 48) / std::max<int64_t>(size, 1),
                  "the equation spans too many elements"))
      size *= dim;
  }

  void plan(Checker& c) {
    for (std::uint64_t& t : tables)
      t = c.scratch(static_cast<std::uint64_t>(size) * sizeof(int64_t));
  }

  /// Writes offsets for every index, the last label fastest.
  void fill(const int64_t* dims, const int64_t* strides, int64_t* to) const {
    int64_t at[kLabels] = {};
    int64_t offset = 0;
    for (int64_t i = 0; i < size; ++i) {
      to[i] = offset;
      for (int l = count - 1; l >= 0; --l) {
        offset += strides[labels[l]];
        if (++at[l] < dims[labels[l]]) break;
        offset -= strides[labels[l]] * dims[labels[l]];
        at[l] = 0;
      }
    }
  }
};

struct Einsum {
  Equation eq;
  Group batch, rows, columns, terms;  ///< for three operands and more: rows = result labels
  DType dtype = DType::undefined;
  enum Path { kF32, kF64, kU32, kU64 } path = kF32;
  template <class T>
  struct Operands {
    Converted<T> x[kMaxOperands];
  };
  Operands<float> f32;
  Operands<double> f64;
  Operands<std::uint32_t> u32;
  Operands<std::uint64_t> u64;
  std::uint64_t product = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "einsum");
    const int n = static_cast<int>(std::min<std::size_t>(args.in.size(), kMaxOperands + 1));
    c.require(n >= 1 && n <= kMaxOperands, "expected 1 to %d operands", kMaxOperands);
    if (!c.ok() || !c.tensors(n, n, 1, 1)) return c.error();
    dtype = c.in(0).dtype;
    c.require(is_convertible(dtype) && dtype != DType::boolean,
              "operand 0 has type %s; expected f16, bf16, f32, f64 or an integer of 8 bits or more",
              dtype_name(dtype));
    for (int i = 1; i < n; ++i) c.dtype_in(i, dtype);
    c.dtype_out(0, dtype);
    if (!c.ok() || !eq.read(c)) return c.error();
    group(c);
    if (!c.ok()) return c.error();
    for (Group* g : {&batch, &rows, &columns, &terms}) g->plan(c);
    if (is_integer(dtype))
      path = dtype_bits(dtype) == 64 ? kU64 : kU32;
    else
      path = dtype == DType::f64 ? kF64 : kF32;
    for (int i = 0; i < n; ++i) {
      if (path == kF32) f32.x[i].plan(c, c.in(i));
      if (path == kF64) f64.x[i].plan(c, c.in(i));
      if (path == kU32) u32.x[i].plan(c, c.in(i));
      if (path == kU64) u64.x[i].plan(c, c.in(i));
    }
    product = c.scratch(
        std::max(gemm_workspace<float>(c.threads()), gemm_workspace<double>(c.threads())));
    return c.error();
  }

  void group(Checker& c) {
    for (int o = 0; o < eq.output_count; ++o) {
      const int l = eq.output[o];
      const bool in_a = eq.stride[0][l] != 0;
      const bool in_b = eq.operands > 1 && eq.stride[1][l] != 0;
      Group& g = eq.operands > 2 || !in_b ? rows : in_a ? batch : columns;
      g.add(c, l, eq.dim[l]);
    }
    for (int l = 0; l < kLabels; ++l)
      if (eq.used[l] && !eq.kept[l]) terms.add(c, l, eq.dim[l]);
  }

  template <class T>
  struct Context {
    const Einsum* self;
    const T* a;
    const T* b;  ///< null for a single operand: every factor is 1
    void* y;
    const int64_t* tables[4][3];  ///< of batch, rows, columns, terms
  };
  enum { kBatch, kRows, kColumns, kTerms };

  template <class T>
  static void pack_a(const void* p, int64_t batch_at, Range i, Range k, T* dst) {
    const auto& s = *static_cast<const Context<T>*>(p);
    const T* base = s.a + s.tables[kBatch][0][batch_at];
    const int64_t depth = k.size();
    for (int64_t i0 = i.begin; i0 < i.end; i0 += kGemmMr, dst += kGemmMr * depth)
      for (int64_t r = 0; r < kGemmMr; ++r) {
        const bool live = i0 + r < i.end;
        const T* row = live ? base + s.tables[kRows][0][i0 + r] : base;
        for (int64_t t = 0; t < depth; ++t)
          dst[t * kGemmMr + r] = live ? row[s.tables[kTerms][0][k.begin + t]] : T{};
      }
  }

  template <class T>
  static void pack_b(const void* p, int64_t batch_at, Range j, Range k, T* dst) {
    const auto& s = *static_cast<const Context<T>*>(p);
    constexpr int64_t kNr = kGemmNr<T>;
    const int64_t depth = k.size();
    for (int64_t j0 = j.begin; j0 < j.end; j0 += kNr, dst += kNr * depth)
      for (int64_t col = 0; col < kNr; ++col) {
        const bool live = j0 + col < j.end;
        if (s.b == nullptr || !live) {
          for (int64_t t = 0; t < depth; ++t) dst[t * kNr + col] = live ? T{1} : T{};
          continue;
        }
        const T* column = s.b + s.tables[kBatch][1][batch_at] + s.tables[kColumns][1][j0 + col];
        for (int64_t t = 0; t < depth; ++t)
          dst[t * kNr + col] = column[s.tables[kTerms][1][k.begin + t]];
      }
  }

  template <class T>
  static void store(const void* p, int64_t batch_at, Range i, Range j,
                    const typename GemmAcc<T>::Type* tile) {
    const auto& s = *static_cast<const Context<T>*>(p);
    const int64_t* to = s.tables[kColumns][2];
    const bool dense = to[j.end - 1] - to[j.begin] == j.size() - 1;
    for (int64_t r = i.begin; r < i.end; ++r) {
      const int64_t y_row = s.tables[kBatch][2][batch_at] + s.tables[kRows][2][r];
      const auto* sums = tile + (r - i.begin) * kGemmCols;
      if (dense) {
        write_run(s.self->dtype, sums, j.size(), s.y, y_row + to[j.begin]);
        continue;
      }
      for (int64_t col = j.begin; col < j.end; ++col)
        write_run(s.self->dtype, sums + col - j.begin, 1, s.y, y_row + to[col]);
    }
  }

  template <class T>
  void multiply(const RunArgs& args, const T* a, const T* b) const {
    Context<T> ctx{this, a, b, args.out[0], {}};
    const Group* groups[4] = {&batch, &rows, &columns, &terms};
    for (int g = 0; g < 4; ++g)
      for (int t = 0; t < 3; ++t) {
        int64_t* to =
            reinterpret_cast<int64_t*>(static_cast<char*>(args.workspace) + groups[g]->tables[t]);
        groups[g]->fill(eq.dim, t == 2 ? eq.output_stride : eq.stride[t], to);
        ctx.tables[g][t] = to;
      }
    GemmTask<T> task;
    task.batch = batch.size;
    task.m = rows.size;
    task.n = columns.size;
    task.k = terms.size;
    task.ctx = &ctx;
    task.pack_a = pack_a<T>;
    task.pack_b = pack_b<T>;
    task.store = store<T>;
    gemm<T>(task, static_cast<char*>(args.workspace) + product, args.parallel);
  }

  /// Three operands and more: every result element is its own sum.
  template <class T>
  void sum_terms(const RunArgs& args, const T* const* x) const {
    using Acc = typename GemmAcc<T>::Type;
    const int64_t grain = std::max<int64_t>(1, 4096 / std::max<int64_t>(terms.size, 1));
    args.parallel(rows.size, grain, [&](int64_t begin, int64_t end, int) {
      for (int64_t o = begin; o < end; ++o) {
        int64_t base[kMaxOperands] = {};
        int64_t y_at = 0;
        int64_t rest = o;
        for (int l = rows.count - 1; l >= 0; --l) {
          const int label = rows.labels[l];
          const int64_t at = rest % eq.dim[label];
          rest /= eq.dim[label];
          y_at += at * eq.output_stride[label];
          for (int i = 0; i < eq.operands; ++i) base[i] += at * eq.stride[i][label];
        }
        Acc sum{};
        int64_t at[kLabels] = {};
        for (int64_t t = 0; t < terms.size; ++t) {
          Acc factor{1};
          for (int i = 0; i < eq.operands; ++i) factor *= static_cast<Acc>(x[i][base[i]]);
          sum += factor;
          for (int l = terms.count - 1; l >= 0; --l) {
            const int label = terms.labels[l];
            const bool wrap = ++at[l] == eq.dim[label];
            const int64_t step = wrap ? 1 - eq.dim[label] : 1;
            for (int i = 0; i < eq.operands; ++i) base[i] += step * eq.stride[i][label];
            if (!wrap) break;
            at[l] = 0;
          }
        }
        write_run<Acc>(dtype, &sum, 1, args.out[0], y_at);
      }
    });
  }

  template <class T>
  void run_as(const RunArgs& args, const Operands<T>& operands) const {
    const T* x[kMaxOperands] = {};
    for (int i = 0; i < eq.operands; ++i) x[i] = operands.x[i].load(args, i);
    if (eq.operands > 2)
      sum_terms<T>(args, x);
    else
      multiply<T>(args, x[0], x[1]);
  }

  const char* run(const RunArgs& args) const {
    if (path == kF32) run_as(args, f32);
    if (path == kF64) run_as(args, f64);
    if (path == kU32) run_as(args, u32);
    if (path == kU64) run_as(args, u64);
    return nullptr;
  }
};

}  // namespace

const Kernel einsum_kernel = make_kernel<Einsum>("ref.einsum");

}  // namespace frit::kernels::ref
