// The kernel of the CUDA engine. It walks through a program that the host has
// written: phases of operations on matrices, each cut into tiles that the blocks
// share out, with a barrier of the whole grid behind each phase. One launch
// performs many training steps, or many pieces of an evaluation: passes of the
// same program with other inputs.
//
// Launches are cooperative: all blocks have to be resident at once. The same source
// is compiled as C++, with threads for fibres, to be checked without a device.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#ifdef __CUDACC__
#define PRAGMA(text) _Pragma(#text)
#define UNROLL(times) PRAGMA(unroll times)
__device__ __forceinline__ void *shared_memory() {
  extern __shared__ __align__(16) char memory[];
  return memory;
}
__device__ __forceinline__ void relax() {}

// arrive adds 1 to a count, with all that was written before to be seen by whom
// arrivals shows it.
__device__ __forceinline__ void arrive(u32 *count) {
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(count) : "memory");
}
__device__ __forceinline__ u32 arrivals(const u32 *count) {
  u32 n;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(n) : "l"(count) : "memory");
  return n;
}

// divide is n / d for 1 ≤ d ≤ 4 without the branches of CUDA's division, which keep
// neighbours from being computed together. It rounds like it unless the quotient is
// denormal.
__device__ __forceinline__ float divide(float n, float d) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(d));
  r = fmaf(r, fmaf(-d, r, 1), r);
  float q = n * r;
  q = fmaf(r, fmaf(-d, q, n), q);
  return fmaf(r, fmaf(-d, q, n), q);
}

// to_half and from_halves convert numbers of half precision, two of which are a word.
__device__ __forceinline__ u16 to_half(float x) {
  u16 half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
  return half;
}
__device__ __forceinline__ float2 from_halves(u32 word) {
  float2 two;
  asm("{.reg .b16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high;}"
      : "=f"(two.x), "=f"(two.y) : "r"(word));
  return two;
}

#if __CUDA_ARCH__ >= 800
#define TENSOR_CORES
// add_products adds the products of two pieces, whose numbers have to be tf32, to the
// sums of a warp (Sums, below).
__device__ __forceinline__ void add_products(float (&sum)[2][4][4], const float (&a)[4][4], const float (&b)[4][4]) {
  UNROLL(2)
  for (int k = 0; k < 4; k += 2)
    UNROLL(2)
    for (int m = 0; m < 2; m++)
      UNROLL(4)
      for (int n = 0; n < 4; n++) {
        float(&c)[4] = sum[m][n];
        asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(__float_as_uint(a[2 * m][k])), "r"(__float_as_uint(a[2 * m + 1][k])), "r"(__float_as_uint(a[2 * m][k + 1])),
              "r"(__float_as_uint(a[2 * m + 1][k + 1])), "r"(__float_as_uint(b[n][k])), "r"(__float_as_uint(b[n][k + 1])));
      }
}
#endif

// global tells the compiler that an address is one of the device's memory.
template <class T> __device__ __forceinline__ T *global(T *address) {
  __builtin_assume(__isGlobal(address));
  return address;
}
#else
#define UNROLL(times)
#include "device.h"
#endif

// Tiles are 32 × 32. The warps of a block share out the depth, along which a
// product sums, in pieces of 16.
const int TILE = 32;
const int DEPTH = 16;
const int PITCH = TILE + 4; // of a piece, rows of which are read four numbers at a time
const int MOST_WARPS = 8;

// ---------------------------------------------------------------------------
// Programs. gpu/program.go has the same structures.

// Place says which Philox counters the draws of a row have: sample s of row d is
// sample inputs[sample] + s of datum inputs[datum] + d or, where the data are
// listed, inputs[datum + d].
struct Place {
  u32 word; // layer << 16 | purpose << 24
  u32 step, sample, datum, listed;
};

enum Kind {
  LOOK_AHEAD, LOAD, OUTPUTS, WEIGH, GRADIENT, BLOCKS, MULTIPLY_BLOCKS, DIAGONAL, SCALE, UPDATE, REINFORCE, LEARN, ADVANCE,
  SOFTMAX, SCORE_LABELS, WEIGH_LABELS, CONDITION
};

// LookAhead: the point is where the velocity alone would lead (Várady 2025, 6.10).
struct LookAhead {
  const float *parameters, *velocity;
  float *point;
  u32 count, ahead; // ahead: input, the learning rate times the decay
};

// Load: visible units of rows of data, one tile a row. v/255 is the probability
// that a unit is on; unless stochastic, it is on from 128.
struct Load {
  const u8 *data;
  float *states; // behind the leading 1
  u32 units, stride, stochastic;
  u32 row, listed; // row: input
  float off;
  Place place;
};

// Chained locates the chains of the training rows, width numbers each: 1 if a chain has begun, and from
// first on the states of a layer, 24 to a number. Datum d has row inputs[rows + d].
struct Chained {
  float *chains;
  u32 width, first, rows;
};

// Outputs: a = W [1; parents] of a layer for some rows, and what follows from
// them. Where logits are given instead, row r has those of their row r / logits_of.
struct Outputs {
  const float *parents, *weights, *logits;
  float *stored;    // takes the logits
  float *states;    // behind the leading 1: takes draws, or has the states to score
  float *residuals; // takes on − σ(a)
  float *slopes;    // takes −a σ'(a), those of the entropy
  float *means;     // takes σ(a)
  double *scores;   // takes log-probabilities: of each column of tiles, of each row
  u32 parents_stride, logits_of, width;
  u32 rows, units, stride; // stride: of logits, stored, residuals, slopes and means
  u32 states_stride, states_of; // row r has the states of row r / states_of
  u32 scores_stride;
  u32 draw; // whether states are drawn
  u32 samples; // of a datum: sample r mod samples of row r / samples
  float off;
  Place place;
  Chained chained; // sample 0 of a datum is the state of the chain of its row, if the chain has begun
};

// Weigh: log p − log q of the samples of a datum, one tile a datum, their sums,
// and their normalised weights.
struct Weigh {
  const double *generative, *recognition; // scores
  double *log_weights; // takes log p − log q of each row
  double *joint;       // takes log p of each row, if given
  double *sums; // takes, of datum inputs[output] + d, the largest l = factor (log p − log q), Σ √ω, Σ ω, Σ ω² relative to it, and Σ l
  float *weights;             // takes ω̃ times the next one; ω̃ ∝ (p/q)^exponent
  float *recognition_weights; // takes recognition_scale (ω̃ − baseline) + inputs[score], or the signal in the place of ω̃ − baseline
  double factor, exponent, scale, recognition_scale, baseline;
  u32 generative_tiles, recognition_tiles, stride, samples, score, output;
  u32 signal; // of REINFORCE
  Place place; // of the draws of chains
  u32 *stays;  // takes the sample at which the chain of each datum ends: with chains, ω̃ are the shares of its visits
};

enum Signal { NO_SIGNAL, ABOVE_OTHERS, LOG_WEIGHT }; // above the mean of the datum's other samples

// Source is a term of a gradient: Σ over rows of weight · residual · parent. Row r
// has the residuals and weights of rows r · sharing … r · sharing + sharing − 1, which
// share its parents.
struct Source {
  const float *residuals, *parents, *weights; // no weights: 1
  u32 residuals_stride, parents_stride, sharing, rows;
  u32 scale; // input
};

struct Gradient {
  float *gradient; // units × width
  const float *base; // is added, times base_scale
  float base_scale;
  u32 units, width, sources;
  Source source[3];
};

// Reinforce: the gradient of q with the optimal baseline of each parameter, tile by tile like Gradient:
// scale · Σ (l − b) g, where g = residual · parent and l = log p − log q. The b of a sample is
// the mean l of the datum's other samples, weighted by their g², or equally if these are 0.
struct Reinforce {
  Source source; // without weights and scale
  const double *log_weights;
  float *gradient;
  u32 samples, units, width;
  float scale;
};

// Learn: REINFORCE with learned baselines in a layer of q, one tile a datum. Of the network that learns them,
// output 0 is the mean of l, and outputs first + 2 j and first + 2 j + 1 are the means of (l − m) δ²
// and of δ² for unit j, where m is the mean l of the datum's other samples.
struct Learn {
  const float *residuals, *seen, *learned; // seen: [1; x]; learned: the network's outputs
  const double *log_weights;
  float *weighted; // takes residuals times scale (l − b)
  float *moves;    // takes what is added to an output, times [1; x], to the network
  double scale, rate;
  u32 stride, seen_stride, seen_width, outputs, first; // outputs: stride of learned and moves
  u32 samples, units;
  float least; // denominator of a baseline
};

// Advance: moves the chains of a minibatch to the samples at which they end, one tile a datum.
struct Advance {
  const float *states; // behind the leading 1
  const u32 *stays;
  Chained chained;
  u32 states_stride, units, samples, data;
};

// Variable is a categorical variable: consecutive units of a layer, at most one of which is on. rest says whether
// none of them may be on, which has the logit 0.
struct Variable {
  u32 first, units, rest;
};

// Softmax: the categorical variables of a layer for some rows, whose logits Outputs has stored. A tile has TILE
// rows and at most TILE variables.
struct Softmax {
  const Variable *variables;
  const float *logits;
  float *states, *residuals, *means; // states: behind the leading 1; takes draws, or has the states to score; residuals: takes on − π; means: takes π
  double *scores; // takes log-probabilities: of each variable, of each row
  u32 rows, count, stride, logits_of; // count: of variables; stride: of logits, residuals and means
  u32 states_stride, states_of, draw, samples; // as in Outputs
  Place place;
};

// ScoreLabels: log √(p(x,h,y) q(y|h)/q(h|x)) of each sample and each label y, TILE samples a tile. A classifier has
// p(y|x,h) = q(y|x,h).
struct ScoreLabels {
  const double *generative, *recognition; // scores of the layers below the label
  const float *logits, *shared;           // of q(y|h): the sum of a row for the sample and, if given, one for its datum
  const float *prior, *conditions;        // logits of p(y), a row for each sample, and of p(h|y), a row for each label
  const double *off;                      // log p(h|y) if all units are off: of each column of tiles, of each label
  const float *states;                    // h, behind the leading 1
  double *scores, *log_q;                 // log_q: takes log q(y|h)
  u32 generative_tiles, recognition_tiles, rows, samples, classes;
  u32 stride, conditions_stride, states_stride, units, off_tiles; // stride: of logits, shared and prior
};

// WeighLabels: the table T of hm/engine/cpu/labels.go, and what it makes of the weights and residuals, one tile a datum.
struct WeighLabels {
  double *scores; // of ScoreLabels
  const double *log_q;
  const u8 *labels;                     // of the rows of data
  float *states, *residuals[2];         // of a label layer, else null
  float *table;                         // takes scale · T, or residuals of a classifier
  float *weights, *recognition_weights; // takes scale · t, and scale · t without its mean
  double half, gamma, scale;            // half: of the factor of labelled data
  u32 row, classes, samples, stride, states_stride; // row: input, the first of a list; stride: of residuals and table
  u32 proposal, baseline;
  Place place;
};

enum Proposal { EXACT, PLAIN, MIXED };

// Condition: the gradient of p(h|y) from the products Σ T(k,y) [1; h] for each label y, tile by tile like Gradient.
struct Condition {
  const float *products, *means; // means: of h given y
  float *gradient;
  u32 units, width, classes, products_stride, means_stride;
  float off;
};

// Blocks: inverses of Fisher blocks, one tile a variable of some units. A Bernoulli unit is a variable of one unit,
// and the units of a categorical variable share a block. The weight of a sample is that of its row times σ'(a) =
// |δ|(1−|δ|) of its residual δ.
//
//   direct: α (αI + Uᵀ Q U)⁻¹                       size × size
//   inner:  √Q (αI + √Q U Uᵀ √Q)⁻¹ √Q               rows × rows
//   shared: α (αI + Σ w (diag π − π πᵀ) ⊗ u uᵀ)⁻¹   size × size
//
// They are symmetric. Direct ones are kept as Halved ones if halved, the others as Packed ones.
struct Blocks {
  const float *residuals, *parents, *weights, *gram; // gram: U Uᵀ, only for inner ones
  float *inverses, *scratch; // scratch: for each thread block
  u32 *failed;               // takes 1 of a variable whose block cannot be inverted
  u64 scratch_size;          // of each thread block, numbers
  u32 residuals_stride, parents_stride;
  u32 rows, units, size, halved; // units: of a variable
  float scale, damping; // scale: of the weights, or the weight where there are none
};

// MultiplyBlocks: y = scale · M x of each unit, one tile a unit. M is Packed or Halved.
struct MultiplyBlocks {
  const float *blocks, *vectors;
  float *products;
  u32 size, units, halved;
  u32 vectors_stride, vectors_step, products_stride, products_step; // between units, and between the numbers of one
  float scale;
};

// Diagonal: (1+α)/(α + F_kk) of each unit and parent.
struct Diagonal {
  const float *residuals, *parents, *weights;
  float *factors;
  u32 residuals_stride, parents_stride;
  u32 rows, units, size;
  float scale, damping;
};

struct Scale {
  const float *numbers, *factors;
  float *products;
  u32 count;
};

// Update: what the optimiser does to a tile of the parameters of a layer, units × width,
// once the gradients of the penalised norms are taken from the direction. All numbers
// but the sizes, the optimiser and the decays are inputs.
struct Update {
  float *parameters;
  const float *point, *natural;
  float *direction, *first, *second; // moments
  u32 units, width, optimizer, unbiased; // unbiased: whether the parameters of parent 0 stay 0
  u32 rate, correction, l1, l2;
  float beta1, beta2, epsilon;
  double rest1, rest2; // 1 − beta1, 1 − beta2
};

enum Optimizer { GRADIENT_DESCENT, ADAM, MOMENTUM, STAY };

struct Operation {
  u32 kind, followed; // followed: by the next operation, of the same tile by the same block
  union {
    LookAhead look_ahead;
    Load load;
    Outputs outputs;
    Weigh weigh;
    Gradient gradient;
    Blocks blocks;
    MultiplyBlocks multiply_blocks;
    Diagonal diagonal;
    Scale scale;
    Update update;
    Reinforce reinforce;
    Learn learn;
    Advance advance;
    Softmax softmax;
    ScoreLabels score_labels;
    WeighLabels weigh_labels;
    Condition condition;
  };
};

struct Tile {
  u32 operation, tile; // the first operation, and which of its tiles
};

struct Phase {
  u32 first, tiles; // the first tile, and how many
};

struct Program {
  const Operation *operations;
  const Tile *tiles;
  const Phase *phases;
  u32 *arrived; // of the barrier, 0 before a launch
  u64 key;      // of the draws
  u32 phase_count, input_count;
};

// Sizes that the host counts on.
static_assert(sizeof(Operation) == 184, "Operation");
static_assert(sizeof(Program) == 48, "Program");

const u32 CHAINED = 24; // units whose states are a number of a chain
const u32 ELEMENTS = 2048; // that an elementwise operation computes in a tile

// ---------------------------------------------------------------------------

struct Shared {
  float staged[MOST_WARPS][TILE * PITCH]; // pieces of both factors, then sums of the warps
  float tile[TILE][TILE + 1];
  float pivot[TILE][TILE + 1];
  double sums[MOST_WARPS * 5]; // of each warp
  Operation operation; // that the block performs
};

static_assert(2 * DEPTH <= TILE, "pieces");
static_assert(sizeof(Shared) == 45816, "Shared"); // what the host asks for

__device__ __forceinline__ Shared &shared() { return *(Shared *)shared_memory(); }
__device__ __forceinline__ int lane() { return threadIdx.x % 32; }
__device__ __forceinline__ int warp() { return threadIdx.x / 32; }
__device__ __forceinline__ int warps() { return blockDim.x / 32; }

__device__ __forceinline__ float number(const u32 *inputs, u32 at) { return __uint_as_float(inputs[at]); }

// ---------------------------------------------------------------------------
// Draws, as internal/philox and internal/kernels have them.

struct Words {
  u32 word[4];
};

__device__ Words philox(u64 key, u32 c0, u32 c1, u32 c2, u32 c3) {
  u32 k0 = (u32)key, k1 = (u32)(key >> 32);
  for (int round = 0; round < 10; round++) {
    u64 p0 = (u64)0xD2511F53u * c0, p1 = (u64)0xCD9E8D57u * c2;
    u32 n0 = (u32)(p1 >> 32) ^ c1 ^ k0, n2 = (u32)(p0 >> 32) ^ c3 ^ k1;
    c0 = n0, c1 = (u32)p1, c2 = n2, c3 = (u32)p0;
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  Words w = {{c0, c1, c2, c3}};
  return w;
}

// draws are those of units unit … unit + 3 of a sample of a datum.
__device__ Words draws(u64 key, const Place &place, const u32 *inputs, u32 datum, u32 sample, u32 unit) {
  u32 d = place.listed ? __ldg(inputs + place.datum + datum) : __ldg(inputs + place.datum) + datum;
  return philox(key, place.word | unit / 4, __ldg(inputs + place.sample) + sample, d, __ldg(inputs + place.step));
}

__device__ __forceinline__ float uniform(u32 word) {
  return __fadd_rn(__fmul_rn((float)(word >> 9), 0x1p-23f), 0x1p-24f);
}

// exp_negative is e⁻ᵗ for t ≥ 0, with the roundings of the CPU engine.
__device__ float exp_negative(float t) {
  if (!(t <= 87.3f)) return t > 87.3f ? 0 : t;
  int n = (int)__fadd_rn(__fmul_rn(t, 1.4426950408889634f), 0.5f);
  float f = (float)n;
  float r = __fadd_rn(__fadd_rn(__fmul_rn(f, 0.693359375f), -t), __fmul_rn(f, -2.12194440054690583e-4f));
  float r2 = __fmul_rn(r, r);
  float high = __fadd_rn(__fadd_rn(__fmul_rn(r, 1.0f / 120), 1.0f / 24), __fmul_rn(r2, 1.0f / 720));
  float p = __fadd_rn(__fadd_rn(__fmul_rn(r, 1.0f / 6), 0.5f), __fmul_rn(r2, high));
  p = __fadd_rn(__fmul_rn(p, r), 1);
  p = __fadd_rn(__fmul_rn(p, r), 1);
  return __fmul_rn(p, __uint_as_float((u32)(127 - n) << 23));
}

// log_1p is ln(1 + e) for 0 ≤ e ≤ 1 from the series of 2·artanh(e/(2+e)).
__device__ float log_1p(float e) {
  float r = divide(e, 2 + e), s = r * r, s2 = s * s;
  float low = (s * (1.0f / 3) + 1) + s2 * (s * (1.0f / 7) + 1.0f / 5);
  float high = (s * (1.0f / 11) + 1.0f / 9) + s2 * (s * (1.0f / 15) + 1.0f / 13);
  return 2 * r * (low + s2 * s2 * high);
}

// ---------------------------------------------------------------------------
// Products. A factor has 32 rows of a tile along a depth. A warp fetches it in
// pieces of 16 depths, of which lane 4 g + t has those from 4 t on of four rows: g + 8 i
// where the depths of a row lie together in memory (ALONG), else 4 g + i, which lie
// together themselves. So tensor cores take pieces as they come.
//
// factor.four(n, from, depth) has four numbers of a piece from a depth on that lie
// together: of the n-th row, or of the n-th depth. Rows and depths are padded to
// multiples of four, with zeros along the depth. Beyond all depths numbers are 0;
// beyond the rows, where products are not used, they are 0 or anything. A factor has
// less than 2³² numbers.

__device__ __forceinline__ float4 four(const float *at, bool inside) {
  float4 none = {0, 0, 0, 0};
  return inside ? *(const float4 *)global(at) : none;
}

// Along a row: data[row · stride + depth].
struct AlongDepth {
  enum { ALONG = 1 };
  const float *data;
  u32 stride;
  int first, rows;
  __device__ __forceinline__ float4 four(int n, int from, int depth) const {
    int row = first + lane() / 4 + 8 * n, k = from + lane() % 4 * 4;
    return ::four(data + (row * stride + k), row < rows && k < depth);
  }
};

// Across rows: data[depth · stride + row].
struct AcrossDepth {
  enum { ALONG = 0 };
  const float *data;
  u32 stride;
  int first, rows;
  __device__ __forceinline__ float4 four(int n, int from, int depth) const {
    int row = first + lane() / 4 * 4, k = from + lane() % 4 * 4 + n;
    return ::four(data + (k * stride + row), row < rows && k < depth);
  }
};

// Weighted is another factor times a scale and a weight for each depth.
struct Weighted : AcrossDepth {
  const float *weights; // 1 where there are none
  float scale;
  __device__ __forceinline__ float4 four(int n, int from, int depth) const {
    int k = min(from + lane() % 4 * 4 + n, depth - 1);
    float4 x = AcrossDepth::four(n, from, depth);
    float w = weights ? scale * *global(weights + k) : scale;
    return {x.x * w, x.y * w, x.z * w, x.w * w};
  }
};

// Summed has at each depth the sum of some consecutive depths of another factor.
struct Summed {
  enum { ALONG = 0 };
  Weighted each;
  int times;
  __device__ __forceinline__ float4 four(int n, int from, int depth) const {
    int row = each.first + lane() / 4 * 4, k = from + lane() % 4 * 4 + n;
    float4 sum = {0, 0, 0, 0};
    if (row >= each.rows || k >= depth) return sum;
    for (int i = 0; i < times; i++) {
      float4 x = *(const float4 *)global(each.data + ((k * times + i) * each.stride + row));
      float w = each.weights ? each.scale * *global(each.weights + k * times + i) : each.scale;
      sum.x += w * x.x;
      sum.y += w * x.y;
      sum.z += w * x.z;
      sum.w += w * x.w;
    }
    return sum;
  }
};

// Piece holds the numbers of a lane of a piece of a factor: [row][depth].
template <class F> struct Piece {
  float at[4][4];
  __device__ __forceinline__ void fetch(const F &factor, int from, int depth) {
    UNROLL(4)
    for (int n = 0; n < 4; n++) {
      float4 x = factor.four(n, from, depth);
      (F::ALONG ? at[n][0] : at[0][n]) = x.x;
      (F::ALONG ? at[n][1] : at[1][n]) = x.y;
      (F::ALONG ? at[n][2] : at[2][n]) = x.z;
      (F::ALONG ? at[n][3] : at[3][n]) = x.w;
    }
  }
};

// Exact says which factor of a product has numbers of tf32 alone, such as states.
enum Exact { LEFT, RIGHT, NEITHER };

// Sums are the sums of a warp of the 32 × 32 products of two factors. After take, the
// pieces may be fetched anew; add adds their products.
#ifdef TENSOR_CORES

// rounded is the nearest tf32.
__device__ __forceinline__ float rounded(float x) { return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u); }

// Parts are a piece as a sum of numbers of tf32.
struct Parts {
  float high[4][4], low[4][4];
  __device__ __forceinline__ void split(const float (&x)[4][4]) {
    UNROLL(16)
    for (int k = 0; k < 16; k++) {
      float h = rounded(x[k / 4][k % 4]);
      high[k / 4][k % 4] = h;
      low[k / 4][k % 4] = rounded(x[k / 4][k % 4] - h);
    }
  }
};

template <Exact EXACT, class A, class B> struct Sums {
  float sum[2][4][4]; // as mma returns them of rows 16 m … and columns 8 n …
  __device__ __forceinline__ void add(const float (&a)[4][4], const float (&b)[4][4]) {
    Parts x, y;
    if (EXACT != LEFT) x.split(a);
    if (EXACT != RIGHT) y.split(b);
    if (EXACT == LEFT) {
      add_products(sum, a, y.low);
      add_products(sum, a, y.high);
    } else if (EXACT == RIGHT) {
      add_products(sum, x.low, b);
      add_products(sum, x.high, b);
    } else {
      add_products(sum, x.low, y.high);
      add_products(sum, x.high, y.low);
      add_products(sum, x.high, y.high);
    }
  }
  __device__ __forceinline__ void store(float *to) const {
    int g = lane() / 4, t = lane() % 4;
    UNROLL(4)
    for (int i = 0; i < 4; i++) {
      int m = i / 2, h = i % 2 * 2;
      float *row = to + (A::ALONG ? g + 8 * i : 4 * g + i) * PITCH;
      if constexpr (!B::ALONG) {
        *(float4 *)(row + 8 * t) = {sum[m][0][h], sum[m][1][h], sum[m][2][h], sum[m][3][h]};
        *(float4 *)(row + 8 * t + 4) = {sum[m][0][h + 1], sum[m][1][h + 1], sum[m][2][h + 1], sum[m][3][h + 1]};
      } else {
        UNROLL(4)
        for (int n = 0; n < 4; n++) *(float2 *)(row + 8 * n + 2 * t) = {sum[m][n][h], sum[m][n][h + 1]};
      }
    }
  }
};

template <Exact EXACT, class A, class B> __device__ __forceinline__ void sum_depths(const A &a, const B &b, int from, int depth, float *staged) {
  Sums<EXACT, A, B> sums = {};
  Piece<A> left, next_left;
  Piece<B> right, next_right;
  next_left.fetch(a, from, depth);
  next_right.fetch(b, from, depth);
  while (from < depth) {
    left = next_left, right = next_right;
    from += warps() * DEPTH;
    next_left.fetch(a, from, depth);
    next_right.fetch(b, from, depth);
    sums.add(left.at, right.at);
  }
  sums.store(staged);
}

#else

// stage puts a piece into shared memory, where numbers of one depth lie together.
template <class F> __device__ __forceinline__ void stage(const Piece<F> &piece, float *staged) {
  int g = lane() / 4, t = lane() % 4;
  UNROLL(4)
  for (int k = 0; k < 4; k++) {
    float *at = staged + (4 * t + k) * PITCH;
    if (!F::ALONG)
      *(float4 *)(at + 4 * g) = {piece.at[0][k], piece.at[1][k], piece.at[2][k], piece.at[3][k]};
    else
      for (int i = 0; i < 4; i++) at[g + 8 * i] = piece.at[i][k];
  }
}

// A lane sums elements of four rows and of twice four columns. Which ones it has lets
// shared memory serve half a warp at a time.
template <Exact EXACT, class A, class B> __device__ __forceinline__ void sum_depths(const A &a, const B &b, int from, int depth, float *staged) {
  float sum[4][8];
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 8; j++) sum[i][j] = 0;
  float *left = staged, *right = staged + DEPTH * PITCH;
  int l = lane(), row = (l % 2 + l / 8 * 2) * 4, column = l / 2 % 4 * 4;
  Piece<A> next_left;
  Piece<B> next_right;
  next_left.fetch(a, from, depth);
  next_right.fetch(b, from, depth);
  while (from < depth) {
    stage(next_left, left);
    stage(next_right, right);
    __syncwarp(0xffffffffu);
    from += warps() * DEPTH;
    next_left.fetch(a, from, depth);
    next_right.fetch(b, from, depth);
    UNROLL(4)
    for (int k = 0; k < DEPTH; k++) {
      float4 x = *(const float4 *)(left + k * PITCH + row);
      float4 y = *(const float4 *)(right + k * PITCH + column);
      float4 z = *(const float4 *)(right + k * PITCH + column + TILE / 2);
      float xs[4] = {x.x, x.y, x.z, x.w}, ys[8] = {y.x, y.y, y.z, y.w, z.x, z.y, z.z, z.w};
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 8; j++) sum[i][j] += xs[i] * ys[j];
    }
    __syncwarp(0xffffffffu);
  }
  for (int i = 0; i < 4; i++) {
    float *to = staged + (row + i) * PITCH + column;
    *(float4 *)to = {sum[i][0], sum[i][1], sum[i][2], sum[i][3]};
    *(float4 *)(to + TILE / 2) = {sum[i][4], sum[i][5], sum[i][6], sum[i][7]};
  }
}

#endif

// multiply writes the tile Σ a(row, k) b(column, k) of depths first … depth − 1 to
// shared().tile, or adds it, and returns when it is there for all threads; first is
// a multiple of 16. Each warp sums its share of the depths. It is no part of its
// callers, since what they hold in registers would drive to memory what is fetched
// ahead here.
template <Exact EXACT, class A, class B> __device__ __noinline__ void multiply(const A a, const B b, int depth, int first = 0, bool onto = false) {
  Shared &s = shared();
  int summing = min(warps(), (depth - first + DEPTH - 1) / DEPTH);
  if (warp() < summing) sum_depths<EXACT>(a, b, first + warp() * DEPTH, depth, s.staged[warp()]);
  __syncthreads();
  for (int e = 4 * threadIdx.x; e < TILE * TILE; e += 4 * blockDim.x) {
    int r = e / TILE, c = e % TILE;
    float4 total = {0, 0, 0, 0};
    UNROLL(8)
    for (int w = 0; w < MOST_WARPS; w++)
      if (w < summing) {
        float4 x = *(const float4 *)(s.staged[w] + r * PITCH + c);
        total.x += x.x;
        total.y += x.y;
        total.z += x.z;
        total.w += x.w;
      }
    float *to = s.tile[r] + c;
    to[0] = onto ? to[0] + total.x : total.x;
    to[1] = onto ? to[1] + total.y : total.y;
    to[2] = onto ? to[2] + total.z : total.z;
    to[3] = onto ? to[3] + total.w : total.w;
  }
  __syncthreads();
}

// ---------------------------------------------------------------------------
// Operations. Each is called by all threads of a block, with a tile. They are
// functions of their own, or they would take registers from each other.

__device__ __noinline__ void look_ahead(const LookAhead &o, u32 tile, const u32 *inputs) {
  float ahead = number(inputs, o.ahead);
  for (u32 k = tile * ELEMENTS + threadIdx.x; k < o.count && k < (tile + 1) * ELEMENTS; k += blockDim.x)
    o.point[k] = o.parameters[k] + ahead * o.velocity[k];
}

__device__ __noinline__ void load(u64 key, const Load &o, u32 d, const u32 *inputs) {
  u32 row = o.listed ? inputs[o.row + d] : inputs[o.row] + d;
  const u8 *values = o.data + (u64)row * o.units;
  float *states = o.states + (u64)d * o.stride;
  if (threadIdx.x == 0) states[-1] = 1;
  for (u32 unit = 4 * threadIdx.x; unit < o.units; unit += 4 * blockDim.x) {
    Words words;
    if (o.stochastic) words = draws(key, o.place, inputs, d, 0, unit);
    for (u32 i = 0; i < 4 && unit + i < o.units; i++) {
      u8 value = values[unit + i];
      bool on = o.stochastic ? uniform(words.word[i]) < __fdiv_rn((float)value, 255) : value >= 128;
      states[unit + i] = on ? 1 : o.off;
    }
  }
}

__device__ __noinline__ void outputs(u64 key, const Outputs &o, u32 t, const u32 *inputs) {
  Shared &s = shared();
  u32 columns = (o.units + TILE - 1) / TILE;
  u32 column = t % columns, first_row = t / columns * TILE, first_unit = column * TILE;
  if (o.logits) {
    for (u32 e = threadIdx.x; e < TILE * TILE; e += blockDim.x) {
      u32 row = first_row + e / TILE, unit = first_unit + e % TILE;
      bool inside = row < o.rows && unit < o.units;
      s.tile[e / TILE][e % TILE] = inside ? o.logits[(u64)(row / o.logits_of) * o.stride + unit] : 0;
    }
    __syncthreads();
  } else {
    AlongDepth parents = {o.parents, o.parents_stride, (int)first_row, (int)o.rows};
    AlongDepth weights = {o.weights, o.width, (int)first_unit, (int)o.units};
    multiply<LEFT>(parents, weights, o.width);
  }
  // Four units share the words of a counter. What is read comes first and what is
  // written last, so that no unit waits for another.
  bool draw = o.draw, scored = o.scores;
  for (u32 q = threadIdx.x; q < TILE * 8; q += blockDim.x) {
    u32 r = q / 8, unit = first_unit + q % 8 * 4, row = first_row + r;
    double score = 0;
    if (row < o.rows && unit < o.units) {
      u32 count = min(4u, o.units - unit);
      Words words;
      if (draw) words = draws(key, o.place, inputs, row / o.samples, row % o.samples, unit);
      const float *chain = draw && o.chained.chains && row % o.samples == 0 ? o.chained.chains + (u64)inputs[o.chained.rows + row / o.samples] * o.chained.width : nullptr;
      bool given = chain && chain[0] != 0;
      float *states = o.states + (u64)(row / o.states_of) * o.states_stride + unit;
      float off = o.off, a[4], state[4], mean[4], residual[4], slope[4];
      for (u32 i = 0; i < 4; i++) {
        a[i] = s.tile[r][q % 8 * 4 + i];
        state[i] = scored && !draw ? states[min(i, count - 1)] : 0;
      }
      for (u32 i = 0; i < 4; i++) {
        float e = exp_negative(fabsf(a[i])), smaller = divide(e, __fadd_rn(1, e));
        mean[i] = a[i] >= 0 ? divide(1, __fadd_rn(1, e)) : smaller; // σ(a)
        if (draw) state[i] = uniform(words.word[i]) < mean[i] ? 1 : off;
        if (given && i < count) state[i] = (u32)chain[o.chained.first + (unit + i) / CHAINED] >> (unit + i) % CHAINED & 1 ? 1 : off;
        // With z = a where the unit is on and −a where it is off, the
        // log-probability is log σ(z), and its derivative ±σ(−z).
        float sign = state[i] > 0 ? 1 : -1, z = a[i] * sign, rest = z < 0 ? 1 - smaller : smaller;
        if (i < count) score += fminf(z, 0) - log_1p(e);
        residual[i] = sign * rest;
        slope[i] = -a[i] * rest * (1 - rest);
      }
      u64 at = (u64)row * o.stride + unit;
      float *stored = o.stored, *means = o.means;
      float *residuals = scored ? o.residuals : nullptr, *slopes = scored ? o.slopes : nullptr;
      if (draw && unit == 0) states[-1] = 1;
      for (u32 i = 0; i < count; i++) {
        if (stored) stored[at + i] = a[i];
        if (draw) states[i] = state[i];
      }
      if (means) *(float4 *)(means + at) = {mean[0], mean[1], mean[2], mean[3]};
      if (residuals) *(float4 *)(residuals + at) = {residual[0], residual[1], residual[2], residual[3]};
      if (slopes) *(float4 *)(slopes + at) = {slope[0], slope[1], slope[2], slope[3]};
    }
    if (!scored) continue;
    for (int half = 4; half > 0; half /= 2) score += __shfl_xor_sync(0xffffffffu, score, half);
    if (q % 8 == 0 && row < o.rows) o.scores[(u64)column * o.scores_stride + row] = score;
  }
}

// warp_sum is the sum of the numbers of a warp.
__device__ __forceinline__ double warp_sum(double x) {
  for (int half = 16; half > 0; half /= 2) x += __shfl_xor_sync(0xffffffffu, x, half);
  return x;
}

// block_sums replaces some numbers by their sums over all threads, and block_max is
// the largest of the numbers of all threads.
template <int N> __device__ void block_sums(double (&x)[N]) {
  double *of_warp = shared().sums;
  for (int i = 0; i < N; i++) x[i] = warp_sum(x[i]);
  __syncthreads();
  for (int i = 0; i < N; i++)
    if (lane() == 0) of_warp[warp() * N + i] = x[i];
  __syncthreads();
  for (int i = 0; i < N; i++) {
    x[i] = 0;
    for (int w = 0; w < warps(); w++) x[i] += of_warp[w * N + i];
  }
}

__device__ double block_max(double x) {
  for (int half = 16; half > 0; half /= 2) {
    double y = __shfl_xor_sync(0xffffffffu, x, half);
    x = y > x ? y : x;
  }
  double *of_warp = shared().sums;
  __syncthreads();
  if (lane() == 0) of_warp[warp()] = x;
  __syncthreads();
  x = of_warp[0];
  for (int w = 1; w < warps(); w++) x = of_warp[w] > x ? of_warp[w] : x;
  return x;
}

// visit runs the chain of a datum over its samples, and counts in o.weights the proposals after which it was at each.
__device__ void visit(u64 key, const Weigh &o, u32 datum, const u32 *inputs) {
  u64 first = (u64)datum * o.samples;
  for (u32 k = threadIdx.x; k < o.samples; k += blockDim.x) {
    o.weights[first + k] = 0;
    o.recognition_weights[first + k] = uniform(draws(key, o.place, inputs, datum, k, 0).word[0]);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const double *l = o.log_weights + first;
    u32 stays = 0;
    for (u32 k = 1; k < o.samples; k++) {
      if (o.recognition_weights[first + k] < exp(l[k] - l[stays])) stays = k;
      o.weights[first + stays]++;
    }
    o.stays[datum] = stays;
  }
  __syncthreads();
}

__device__ __noinline__ void weigh(u64 key, const Weigh &o, u32 datum, const u32 *inputs) {
  u64 first = (u64)datum * o.samples;
  u32 from = o.stays ? 1 : 0; // sample 0 may be the state of a chain
  // A warp sums the scores of a sample, all of which are under way together.
  for (u32 k = warp(); k < o.samples; k += warps()) {
    double l = 0;
    for (u32 t = lane(); t < o.generative_tiles; t += 32) l += o.generative[(u64)t * o.stride + first + k];
    for (u32 t = lane(); t < o.recognition_tiles; t += 32) l -= o.recognition[(u64)t * o.stride + first + k];
    l = warp_sum(l);
    if (lane() == 0) o.log_weights[first + k] = l;
    if (!o.joint) continue;
    double p = 0;
    for (u32 t = lane(); t < o.generative_tiles; t += 32) p += o.generative[(u64)t * o.stride + first + k];
    p = warp_sum(p);
    if (lane() == 0) o.joint[first + k] = p;
  }
  __syncthreads();
  const double infinity = 1.0 / 0.0;
  double largest = -infinity;
  for (u32 k = from + threadIdx.x; k < o.samples; k += blockDim.x) {
    double l = o.log_weights[first + k];
    largest = l > largest ? l : largest;
  }
  largest = block_max(largest);
  double sums[5] = {0, 0, 0, 0, 0}; // Σ √ω, Σ ω, Σ ω², Σ l, Σ (p/q)^exponent
  double power = 0; // (p/q)^exponent of the first of the thread's samples, relative to the largest
  for (u32 k = from + threadIdx.x; k < o.samples; k += blockDim.x) {
    double l = o.log_weights[first + k], relative = exp(o.factor * (l - largest) / 2);
    double p = o.exponent == o.factor ? relative * relative : exp(o.exponent * (l - largest));
    if (k < blockDim.x) power = p;
    sums[0] += relative;
    sums[1] += relative * relative;
    sums[2] += relative * relative * relative * relative;
    sums[3] += o.factor * l;
    sums[4] += p;
  }
  block_sums(sums);
  if (threadIdx.x == 0) {
    double *to = o.sums + (u64)(inputs[o.output] + datum) * 5;
    to[0] = o.factor * largest;
    for (int i = 0; i < 4; i++) to[1 + i] = sums[i];
  }
  if (!o.weights) return;
  if (o.stays) visit(key, o, datum, inputs);
  for (u32 k = threadIdx.x; k < o.samples; k += blockDim.x) {
    double w = (k < blockDim.x ? power : exp(o.exponent * (o.log_weights[first + k] - largest))) / sums[4];
    if (o.stays) w = (double)o.weights[first + k] / (o.samples - 1);
    o.weights[first + k] = (float)(o.scale * w);
    double signal = w - o.baseline;
    if (o.signal) {
      double l = o.log_weights[first + k];
      signal = (o.signal == ABOVE_OTHERS && o.samples > 1 ? l - (sums[3] - l) / (o.samples - 1) : l) / o.samples;
    }
    o.recognition_weights[first + k] = (float)(o.recognition_scale * signal + number(inputs, o.score));
  }
}

__device__ __noinline__ void gradient(const Gradient &o, u32 t, const u32 *inputs) {
  u32 columns = (o.width + TILE - 1) / TILE;
  int first_unit = t / columns * TILE, first_parent = t % columns * TILE;
  for (u32 i = 0; i < o.sources; i++) {
    const Source &source = o.source[i];
    AcrossDepth residuals = {source.residuals, source.residuals_stride, first_unit, (int)o.units};
    Weighted weighted = {residuals, source.weights, number(inputs, source.scale)};
    AcrossDepth parents = {source.parents, source.parents_stride, first_parent, (int)o.width};
    if (source.sharing == 1)
      multiply<RIGHT>(weighted, parents, source.rows, 0, i > 0);
    else
      multiply<RIGHT>(Summed{weighted, (int)source.sharing}, parents, source.rows, 0, i > 0);
  }
  for (u32 e = threadIdx.x; e < TILE * TILE; e += blockDim.x) {
    u32 unit = first_unit + e / TILE, parent = first_parent + e % TILE;
    if (unit >= o.units || parent >= o.width) continue;
    u64 at = (u64)unit * o.width + parent;
    float sum = shared().tile[e / TILE][e % TILE];
    o.gradient[at] = o.base ? o.base_scale * o.base[at] + sum : sum;
  }
}

__device__ __noinline__ void reinforce(const Reinforce &o, u32 t) {
  const Source &of = o.source;
  u32 columns = (o.width + TILE - 1) / TILE;
  for (u32 e = threadIdx.x; e < TILE * TILE; e += blockDim.x) {
    u32 unit = t / columns * TILE + e / TILE, parent = t % columns * TILE + e % TILE;
    if (unit >= o.units || parent >= o.width) continue;
    double gradient = 0;
    for (u32 first = 0; first < of.rows * of.sharing; first += o.samples) {
      const double *l = o.log_weights + first;
      auto score = [&](u32 s) {
        u32 row = first + s;
        return (double)of.residuals[row * of.residuals_stride + unit] * of.parents[row / of.sharing * of.parents_stride + parent];
      };
      double sum = 0, products = 0, total = 0; // Σ l, Σ g² l, Σ g²
      for (u32 s = 0; s < o.samples; s++) {
        double g = score(s);
        sum += l[s];
        products += g * g * l[s];
        total += g * g;
      }
      for (u32 s = 0; s < o.samples; s++) {
        double g = score(s), others = total - g * g, of_others = products - g * g * l[s];
        if (2 * g * g > total) { // the differences would be inaccurate
          others = of_others = 0;
          for (u32 k = 0; k < o.samples; k++) {
            double other = k == s ? 0 : score(k);
            others += other * other;
            of_others += other * other * l[k];
          }
        }
        double mean = o.samples > 1 ? (sum - l[s]) / (o.samples - 1) : 0;
        gradient += (l[s] - (others != 0 ? of_others / others : mean)) * g;
      }
    }
    o.gradient[(u64)unit * o.width + parent] = (float)(o.scale * gradient);
  }
}

__device__ __noinline__ void learn(const Learn &o, u32 d) {
  u64 first = (u64)d * o.samples;
  const double *l = o.log_weights + first;
  const float *seen = o.seen + (u64)d * o.seen_stride, *learned = o.learned + (u64)d * o.outputs;
  float *moves = o.moves + (u64)d * o.outputs;
  double sums[2] = {0, 0}; // Σ l, and the squared length of [1; x]
  for (u32 s = threadIdx.x; s < o.samples; s += blockDim.x) sums[0] += l[s];
  for (u32 k = threadIdx.x; k < o.seen_width; k += blockDim.x) sums[1] += (double)seen[k] * seen[k];
  block_sums(sums);
  double rate = o.rate / sums[1];
  if (threadIdx.x == 0) moves[0] = (float)(rate * (sums[0] / o.samples - learned[0]));
  for (u32 unit = threadIdx.x; unit < o.units; unit += blockDim.x) {
    u32 output = o.first + 2 * unit;
    double apart = (double)learned[output] / fmaxf(learned[output + 1], o.least), products = 0, squares = 0;
    for (u32 s = 0; s < o.samples; s++) {
      u64 at = (first + s) * o.stride + unit;
      double residual = o.residuals[at], above = l[s] - (o.samples > 1 ? (sums[0] - l[s]) / (o.samples - 1) : learned[0]);
      o.weighted[at] = (float)(o.scale * (above - apart) * residual);
      products += above * residual * residual;
      squares += residual * residual;
    }
    moves[output] = (float)(rate * (products / o.samples - learned[output]));
    moves[output + 1] = (float)(rate * (squares / o.samples - learned[output + 1]));
  }
}

__device__ __noinline__ void advance(const Advance &o, u32 d, const u32 *inputs) {
  const u32 *rows = inputs + o.chained.rows;
  for (u32 later = d + 1; later < o.data; later++)
    if (rows[later] == rows[d]) return; // the last of equal rows moves their chain
  float *chain = o.chained.chains + (u64)rows[d] * o.chained.width;
  const float *states = o.states + ((u64)d * o.samples + o.stays[d]) * o.states_stride;
  if (threadIdx.x == 0) chain[0] = 1;
  for (u32 unit = threadIdx.x * CHAINED; unit < o.units; unit += blockDim.x * CHAINED) {
    u32 bits = 0;
    for (u32 i = 0; i < CHAINED && unit + i < o.units; i++) bits |= (u32)(states[unit + i] > 0) << i;
    chain[o.chained.first + unit / CHAINED] = (float)bits;
  }
}

// log_total is log Σ eᵃ of n logits a, or of a + b if b is given. rest adds the logit 0.
__device__ double log_total(const float *a, const float *b, u32 n, bool rest = false) {
  double largest = rest ? 0 : -1.0 / 0.0;
  for (u32 j = 0; j < n; j++) {
    double l = b ? a[j] + b[j] : a[j];
    largest = l > largest ? l : largest;
  }
  double sum = rest ? exp(-largest) : 0;
  for (u32 j = 0; j < n; j++) sum += exp((b ? a[j] + b[j] : a[j]) - largest);
  return largest + log(sum);
}

__device__ __noinline__ void softmax(u64 key, const Softmax &o, u32 t, const u32 *inputs) {
  u32 columns = (o.count + TILE - 1) / TILE, first = t % columns * TILE, width = min((u32)TILE, o.count - first);
  for (u32 e = threadIdx.x; e < TILE * width; e += blockDim.x) {
    u32 row = t / columns * TILE + e / width, v = first + e % width;
    if (row >= o.rows) return;
    Variable of = o.variables[v];
    u64 at = (u64)row * o.stride + of.first;
    const float *a = o.logits + (u64)(row / o.logits_of) * o.stride + of.first;
    float *states = o.states + (u64)(row / o.states_of) * o.states_stride + of.first;
    double total = log_total(a, nullptr, of.units, of.rest);
    if (o.draw) {
      double left = uniform(draws(key, o.place, inputs, row / o.samples, row % o.samples, v).word[v % 4]);
      u32 on = 0, last = of.rest ? of.units : of.units - 1;
      while (on < last && !((left -= exp(a[on] - total)) < 0)) on++;
      if (of.first == 0) states[-1] = 1;
      for (u32 j = 0; j < of.units; j++) states[j] = j == on;
    }
    double score = -total; // if no unit is on
    for (u32 j = 0; j < of.units; j++) {
      double log = a[j] - total, mean = exp(log);
      if (states[j] > 0) score = log;
      if (o.residuals) o.residuals[at + j] = (float)(states[j] - mean);
      if (o.means) o.means[at + j] = (float)mean;
    }
    o.scores[(u64)v * o.rows + row] = score;
  }
}

__device__ __noinline__ void score_labels(const ScoreLabels &o, u32 t) {
  for (u32 e = threadIdx.x; e < TILE * o.classes; e += blockDim.x) {
    u32 row = t * TILE + e / o.classes, y = e % o.classes;
    if (row >= o.rows) return;
    double ratio = 0;
    for (u32 k = 0; k < o.generative_tiles; k++) ratio += o.generative[(u64)k * o.rows + row];
    for (u32 k = 0; k < o.recognition_tiles; k++) ratio -= o.recognition[(u64)k * o.rows + row];
    const float *a = o.logits + (u64)row * o.stride, *b = o.shared ? o.shared + (u64)(row / o.samples) * o.stride : nullptr;
    double log_q = (b ? a[y] + b[y] : a[y]) - log_total(a, b, o.classes), score = ratio / 2 + log_q;
    if (o.prior) {
      const float *prior = o.prior + (u64)row * o.stride, *states = o.states + (u64)row * o.states_stride;
      double log_p = prior[y] - log_total(prior, nullptr, o.classes);
      for (u32 k = 0; k < o.off_tiles; k++) log_p += o.off[k * o.classes + y];
      for (u32 j = 0; j < o.units; j++)
        if (states[j] > 0) log_p += o.conditions[y * o.conditions_stride + j];
      score = (ratio + log_p + log_q) / 2;
    }
    o.scores[(u64)row * o.classes + y] = score;
    o.log_q[(u64)row * o.classes + y] = log_q;
  }
}

// block_log_total is log Σ eˣ of n numbers x(0), x(1) … for all threads.
template <class X> __device__ double block_log_total(u32 n, X x) {
  double largest = -1.0 / 0.0, sum[1] = {0};
  for (u32 i = threadIdx.x; i < n; i += blockDim.x) largest = x(i) > largest ? x(i) : largest;
  largest = block_max(largest);
  for (u32 i = threadIdx.x; i < n; i += blockDim.x) sum[0] += exp(x(i) - largest);
  block_sums(sum);
  return largest + log(sum[0]);
}

// propose leaves sample k of a datum only the score of a label that is drawn, over its probability (BiHM thesis
// 2016, 4.4, 4.11). y is the label of the datum, and mixed says whether it replaces half of the draws.
__device__ void propose(u64 key, const WeighLabels &o, u32 datum, u32 k, u32 y, bool mixed, const u32 *inputs) {
  u64 row = (u64)datum * o.samples + k;
  double *scores = o.scores + row * o.classes;
  float *states = o.states + row * o.states_stride;
  u32 drawn = 0;
  while (drawn < o.classes - 1 && states[drawn] == 0) drawn++;
  u32 on = mixed && uniform(draws(key, o.place, inputs, datum, k, 0).word[1]) < 0.5f ? y : drawn;
  if (on != drawn) {
    states[drawn] = 0, states[on] = 1;
    for (int n = 0; n < 2; n++) o.residuals[n][row * o.stride + drawn] -= 1, o.residuals[n][row * o.stride + on] += 1;
  }
  double proposal = o.log_q[row * o.classes + on];
  if (mixed) proposal = log(exp(proposal) / 2 + (on == y ? 0.5 : 0));
  for (u32 c = 0; c < o.classes; c++) scores[c] = c == on ? scores[c] - proposal : -1.0 / 0.0;
}

__device__ __noinline__ void weigh_labels(u64 key, const WeighLabels &o, u32 d, const u32 *inputs) {
  u64 first = (u64)d * o.samples;
  double *scores = o.scores + first * o.classes;
  u32 y = o.labels[inputs[o.row + d]];
  bool labelled = y < o.classes;
  double log_b = labelled ? block_log_total(o.samples, [&](u32 k) { return scores[k * o.classes + y]; }) : 0;
  for (u32 k = threadIdx.x; k < o.samples; k += blockDim.x) {
    o.weights[first + k] = labelled ? (float)exp(scores[k * o.classes + y] - log_b) : 0; // ω̃ of B
    if (o.proposal != EXACT) propose(key, o, d, k, y, labelled && o.proposal == MIXED, inputs);
  }
  __syncthreads();
  double log_a = block_log_total(o.samples * o.classes, [&](u32 e) { return scores[e]; });
  double sums[1] = {0}; // Σ t
  for (u32 k = threadIdx.x; k < o.samples; k += blockDim.x) {
    u64 row = first + k;
    float *table = o.table + row * o.stride;
    double t = 0;
    for (u32 c = 0; c < o.classes; c++) {
      double w = exp(scores[k * o.classes + c] - log_a);
      if (labelled) w = o.half * ((c == y ? o.weights[row] : 0) - o.gamma * w);
      table[c] = (float)(o.scale * w);
      t += w;
    }
    sums[0] += t;
    float share = (float)(o.scale * t);
    o.weights[row] = share;
    for (u32 c = 0; c < o.classes; c++) {
      if (!o.states) {
        table[c] = 2 * (table[c] - share * (float)exp(o.log_q[row * o.classes + c]));
        continue;
      }
      float on = o.states[row * o.states_stride + c];
      for (int n = 0; n < 2; n++) {
        float *residual = o.residuals[n] + row * o.stride + c;
        *residual = table[c] - share * (on - *residual);
      }
    }
  }
  block_sums(sums);
  double mean = o.baseline ? o.scale * sums[0] / o.samples : 0;
  for (u32 k = threadIdx.x; k < o.samples; k += blockDim.x) o.recognition_weights[first + k] = (float)(o.weights[first + k] - mean);
}

__device__ __noinline__ void condition(const Condition &o, u32 t) {
  u32 columns = (o.width + TILE - 1) / TILE;
  for (u32 e = threadIdx.x; e < TILE * TILE; e += blockDim.x) {
    u32 unit = t / columns * TILE + e / TILE, parent = t % columns * TILE + e % TILE;
    if (unit >= o.units || parent >= o.width) continue;
    // The bias, parent 0, is a parent of the unit for every label.
    u32 first = parent ? parent - 1 : 0, last = parent ? min(parent, o.classes) : o.classes;
    double sum = 0;
    for (u32 y = first; y < last; y++) {
      const float *products = o.products + (u64)y * o.products_stride;
      double total = products[0], on = (products[1 + unit] - o.off * total) / (1 - o.off);
      sum += on - o.means[(u64)y * o.means_stride + unit] * total;
    }
    o.gradient[(u64)unit * o.width + parent] = (float)sum;
  }
}

// ---------------------------------------------------------------------------
// Inversion of a symmetric positive definite matrix by one thread block, tile by
// tile: A = L Lᵀ, X = L⁻¹, A⁻¹ = Xᵀ X. The tiles on the diagonal are factored in
// double precision.

// Packed is a symmetric matrix of n × n numbers, or a lower triangle: its tiles on
// and below the diagonal, row by row. Rows and columns from n on are those of the
// identity, or 0 where they come from rows of weight 0.
struct Packed {
  float *data;
  int n;
  __device__ __forceinline__ int tiles() const { return (n + TILE - 1) / TILE; }
  __device__ __forceinline__ u64 size() const { return (u64)tiles() * (tiles() + 1) / 2 * TILE * TILE; }
  __device__ __forceinline__ float *tile(int i, int j) const { return data + ((u64)i * (i + 1) / 2 + j) * TILE * TILE; }
};

// Halved is a symmetric matrix of numbers up to 1: its tiles on the diagonal, and in
// half precision those below.
struct Halved {
  float *data;
  int n;
  __device__ __forceinline__ int tiles() const { return (n + TILE - 1) / TILE; }
  __device__ __forceinline__ u64 size() const { return (u64)tiles() * (tiles() + 3) * TILE * TILE / 4; }
  __device__ __forceinline__ float *diagonal(int i) const { return data + i * TILE * TILE; }
  __device__ __forceinline__ u16 *below(int i, int j) const {
    return (u16 *)diagonal(tiles()) + ((u64)i * (i - 1) / 2 + j) * TILE * TILE;
  }
  // store writes a packed matrix times a scale.
  __device__ void store(const Packed &a, float scale) const {
    for (int i = 0; i < tiles(); i++)
      for (int j = 0; j <= i; j++)
        for (int e = threadIdx.x; e < TILE * TILE; e += blockDim.x) {
          float x = scale * a.tile(i, j)[e];
          if (i == j)
            diagonal(i)[e] = x;
          else
            below(i, j)[e] = to_half(x);
        }
  }
};

// Factors of products of packed matrices: the rows of tiles (i, 0), (i, 1), …, and
// the columns of tiles (0, j), (1, j), …

struct PackedRows {
  enum { ALONG = 1 };
  const Packed a;
  int i;
  __device__ __forceinline__ float4 four(int n, int from, int depth) const {
    return ::four(a.tile(i, from / TILE) + (lane() / 4 + 8 * n) * TILE + from % TILE + lane() % 4 * 4, from < depth);
  }
};

struct PackedColumns {
  enum { ALONG = 0 };
  const Packed a;
  int j;
  __device__ __forceinline__ float4 four(int n, int from, int depth) const {
    return ::four(a.tile(from / TILE, j) + (from % TILE + lane() % 4 * 4 + n) * TILE + lane() / 4 * 4, from < depth);
  }
};

// invert_pivot replaces shared().tile, of which it reads the lower triangle, by
// nothing that is needed, and writes the inverse of its Cholesky factor to
// shared().pivot. It returns false for a pivot that is not above 2⁻¹⁰⁰.
__device__ bool invert_pivot() {
  Shared &s = shared();
  double(*factor)[TILE + 1] = (double(*)[TILE + 1])s.staged;
  int r = threadIdx.x;
  bool ok = true;
  if (r < TILE) {
    for (int c = 0; c < TILE; c++) factor[r][c] = s.tile[r][c];
    __syncwarp(0xffffffffu);
    for (int c = 0; c < TILE; c++) {
      double pivot = factor[c][c];
      ok = ok && pivot > 0x1p-100 && pivot < 1e300;
      double root = sqrt(pivot);
      __syncwarp(0xffffffffu);
      if (r == c) factor[r][c] = root;
      if (r > c) factor[r][c] /= root;
      __syncwarp(0xffffffffu);
      for (int k = c + 1; k <= r; k++) factor[r][k] -= factor[r][c] * factor[k][c];
      __syncwarp(0xffffffffu);
    }
    // Column r of the inverse, which is kept above the diagonal: [r][i + 1].
    for (int i = r; i < TILE; i++) {
      double sum = i == r;
      for (int k = r; k < i; k++) sum -= factor[i][k] * factor[r][k + 1];
      double x = sum / factor[i][i];
      factor[r][i + 1] = x;
      s.pivot[i][r] = (float)x;
    }
    for (int i = 0; i < r; i++) s.pivot[i][r] = 0;
  }
  __syncthreads();
  return ok;
}

// factorise replaces the tiles of a below the diagonal by those of L, and writes
// the inverses of the tiles on the diagonal to x.
__device__ bool factorise(const Packed &a, const Packed &x) {
  Shared &s = shared();
  bool ok = true;
  for (int j = 0; j < a.tiles(); j++) {
    for (int i = j; i < a.tiles(); i++) {
      multiply<NEITHER>(PackedRows{a, i}, PackedRows{a, j}, j * TILE);
      float *at = a.tile(i, j);
      for (int e = threadIdx.x; e < TILE * TILE; e += blockDim.x)
        s.tile[e / TILE][e % TILE] = at[e] - s.tile[e / TILE][e % TILE];
      __syncthreads();
      if (i == j) ok = invert_pivot() && ok;
      for (int e = threadIdx.x; e < TILE * TILE; e += blockDim.x) {
        int r = e / TILE, c = e % TILE;
        if (i == j) {
          x.tile(j, j)[e] = s.pivot[r][c];
          continue;
        }
        float sum = 0;
        for (int k = 0; k <= c; k++) sum += s.tile[r][k] * s.pivot[c][k];
        at[e] = sum;
      }
      __syncthreads();
    }
  }
  return ok;
}

// invert_factor completes x = L⁻¹ below its diagonal.
__device__ void invert_factor(const Packed &a, const Packed &x) {
  Shared &s = shared();
  for (int i = 1; i < a.tiles(); i++) {
    for (int e = threadIdx.x; e < TILE * TILE; e += blockDim.x) s.pivot[e / TILE][e % TILE] = x.tile(i, i)[e];
    for (int j = 0; j < i; j++) {
      multiply<NEITHER>(PackedRows{a, i}, PackedColumns{x, j}, i * TILE, j * TILE);
      for (int e = threadIdx.x; e < TILE * TILE; e += blockDim.x) {
        int r = e / TILE, c = e % TILE;
        float sum = 0;
        for (int k = 0; k <= r; k++) sum -= s.pivot[r][k] * s.tile[k][c];
        x.tile(i, j)[e] = sum;
      }
      __syncthreads();
    }
  }
}

// square writes Xᵀ X to a.
__device__ void square(const Packed &a, const Packed &x) {
  for (int i = 0; i < a.tiles(); i++) {
    for (int j = 0; j <= i; j++) {
      multiply<NEITHER>(PackedColumns{x, i}, PackedColumns{x, j}, a.tiles() * TILE, i * TILE);
      for (int e = threadIdx.x; e < TILE * TILE; e += blockDim.x) a.tile(i, j)[e] = shared().tile[e / TILE][e % TILE];
      __syncthreads();
    }
  }
}

// weight is the weight of sample r, and information its weight in the Fisher block of unit j.
template <class O> __device__ float weight(const O &o, u32 r) { return o.weights ? o.scale * o.weights[r] : o.scale; }
template <class O> __device__ float information(const O &o, u32 r, u32 j) {
  float d = fabsf(o.residuals[(u64)r * o.residuals_stride + j]);
  return weight(o, r) * d * (1 - d);
}

// Expected has at each depth, a sample, the numbers π u of the units of a categorical variable, one unit behind
// another, times a weight. Without residuals it has u for each unit.
struct Expected {
  enum { ALONG = 0 };
  const float *residuals, *parents, *weights; // weights: 1 where there are none
  u32 residuals_stride, parents_stride;
  int width, first, rows; // width: numbers of a unit
  float scale;
  __device__ __forceinline__ float4 four(int n, int from, int depth) const {
    int row = first + lane() / 4 * 4, k = from + lane() % 4 * 4 + n;
    bool inside = row < rows && k < depth;
    float4 x = ::four(parents + (k * parents_stride + row % width), inside);
    float w = inside && weights ? scale * weights[k] : scale;
    if (inside && residuals) {
      float d = residuals[(u64)k * residuals_stride + row / width]; // on − π
      w *= d > 0 ? 1 - d : -d;
    }
    return {x.x * w, x.y * w, x.z * w, x.w * w};
  }
};

// sum_variable writes tile (i, k) of Σ w (diag π − π πᵀ) ⊗ u uᵀ of a variable to shared().tile.
__device__ __noinline__ void sum_variable(const Blocks &o, u32 variable, const float *weights, int i, int k) {
  int width = o.size / o.units;
  const float *residuals = o.residuals + variable * o.units;
  Expected left = {residuals, o.parents, weights, o.residuals_stride, o.parents_stride, width, i * TILE, (int)o.size, 1};
  Expected right = {nullptr, o.parents, nullptr, 0, o.parents_stride, width, k * TILE, (int)o.size, 1};
  bool same = i * TILE / width <= (k * TILE + TILE - 1) / width; // whether a unit has rows and columns of the tile
  if (same) {
    multiply<NEITHER>(left, right, o.rows);
    for (int e = threadIdx.x; e < TILE * TILE; e += blockDim.x)
      if ((i * TILE + e / TILE) / width != (k * TILE + e % TILE) / width) shared().tile[e / TILE][e % TILE] = 0;
  }
  right.residuals = residuals, right.residuals_stride = o.residuals_stride, right.scale = -1;
  multiply<NEITHER>(left, right, o.rows, 0, same);
}

__device__ __noinline__ void blocks(const Blocks &o, u32 j) {
  int n = o.gram ? o.rows : o.size;
  Packed x = {o.scratch + blockIdx.x * o.scratch_size, n};
  Packed a = {o.halved ? x.data + x.size() : o.inverses + j * x.size(), n};
  float *q = x.data + (o.halved ? 2 : 1) * x.size();
  for (u32 r = threadIdx.x; r < (u32)TILE * ((o.rows + TILE - 1) / TILE); r += blockDim.x) {
    float w = r >= o.rows ? 0 : o.units > 1 ? weight(o, r) : information(o, r, j);
    q[r] = o.gram ? sqrtf(w) : w;
  }
  __syncthreads();
  for (int i = 0; i < a.tiles(); i++) {
    for (int k = 0; k <= i; k++) {
      if (o.units > 1) {
        sum_variable(o, j, q, i, k);
      } else if (!o.gram) {
        AcrossDepth left = {o.parents, o.parents_stride, i * TILE, a.n}, right = left;
        right.first = k * TILE;
        multiply<RIGHT>(Weighted{left, q, 1}, right, o.rows);
      }
      for (int e = threadIdx.x; e < TILE * TILE; e += blockDim.x) {
        int r = e / TILE, c = e % TILE, row = i * TILE + r, column = k * TILE + c;
        bool inside = row < a.n && column < a.n;
        float x = o.gram && inside ? q[row] * o.gram[(u64)row * a.n + column] * q[column] : 0;
        if (!o.gram) x = shared().tile[r][c];
        if (row == column) x = inside ? x + o.damping : 1;
        a.tile(i, k)[e] = x;
      }
      __syncthreads();
    }
  }
  // The warp that factors the pivots knows of failures.
  bool ok = factorise(a, x);
  if (threadIdx.x == 0) o.failed[j] = !ok;
  invert_factor(a, x);
  square(a, x);
  if (o.halved) {
    Halved to = {o.inverses, n};
    to.data += j * to.size();
    to.store(a, o.damping);
    return;
  }
  for (int i = 0; i < a.tiles(); i++)
    for (int k = 0; k <= i; k++)
      for (int e = threadIdx.x; e < TILE * TILE; e += blockDim.x)
        a.tile(i, k)[e] *= o.gram ? q[i * TILE + e / TILE] * q[k * TILE + e % TILE] : o.damping;
}

// share sums each of N numbers over the N lanes that a stride parts. It returns the
// sum of the number that has the lane's place among them.
template <int N, int STRIDE> __device__ __forceinline__ float share(float (&numbers)[N]) {
  int place = lane() / STRIDE % N;
  for (int half = N / 2; half > 0; half /= 2)
    for (int k = 0; k < half; k++) {
      float mine = place & half ? numbers[k + half] : numbers[k], other = place & half ? numbers[k] : numbers[k + half];
      numbers[k] = mine + __shfl_xor_sync(0xffffffffu, other, half * STRIDE);
    }
  return numbers[0];
}

// A tile (i, k) of a symmetric matrix times the parts k and i of a vector, onto the
// parts i and k of the sums. A tile below the diagonal stands for its transpose, too.
// Of a tile a lane has four columns of every fourth row, or eight of every eighth.

__device__ __forceinline__ void multiply_tile(const float *tile, int i, int k, int rows, const float *vector, float *sums) {
  int row = lane() / 8, column = lane() % 8 * 4;
  tile = global(tile) + row * TILE + column;
  float4 part[8];
  for (int n = 0; n < 8; n++) {
    float4 none = {0, 0, 0, 0};
    part[n] = row + 4 * n < rows ? *(const float4 *)(tile + 4 * n * TILE) : none;
  }
  float4 x = *(const float4 *)(vector + k * TILE + column);
  float of_rows[8], of_columns[4] = {0, 0, 0, 0};
  for (int n = 0; n < 8; n++) {
    float y = vector[i * TILE + row + 4 * n];
    of_rows[n] = part[n].x * x.x + part[n].y * x.y + part[n].z * x.z + part[n].w * x.w;
    of_columns[0] += part[n].x * y;
    of_columns[1] += part[n].y * y;
    of_columns[2] += part[n].z * y;
    of_columns[3] += part[n].w * y;
  }
  sums[i * TILE + row + lane() % 8 * 4] += share<8, 1>(of_rows);
  float transposed = share<4, 8>(of_columns);
  if (k < i) sums[k * TILE + column + row] += transposed;
}

struct HalfTile {
  uint4 part[4]; // 0 beyond the matrix
  __device__ __forceinline__ void fetch(const Halved &m, int i, int k) {
    int row = lane() / 4, column = lane() % 4 * 8;
    for (int n = 0; n < 4; n++) {
      uint4 none = {0, 0, 0, 0};
      bool inside = i * TILE + row + 8 * n < m.n;
      part[n] = inside ? *(const uint4 *)global(m.below(i, k) + (row + 8 * n) * TILE + column) : none;
    }
  }
};

__device__ __forceinline__ void multiply_tile(const HalfTile &tile, int i, int k, const float *vector, float *sums) {
  int row = lane() / 4, column = lane() % 4 * 8;
  float4 first = *(const float4 *)(vector + k * TILE + column), second = *(const float4 *)(vector + k * TILE + column + 4);
  float x[8] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
  float of_rows[4], of_columns[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  for (int n = 0; n < 4; n++) {
    u32 words[4] = {tile.part[n].x, tile.part[n].y, tile.part[n].z, tile.part[n].w};
    float y = vector[i * TILE + row + 8 * n];
    of_rows[n] = 0;
    for (int w = 0; w < 4; w++) {
      float2 two = from_halves(words[w]);
      of_rows[n] += two.x * x[2 * w] + two.y * x[2 * w + 1];
      of_columns[2 * w] += two.x * y;
      of_columns[2 * w + 1] += two.y * y;
    }
  }
  sums[i * TILE + row + lane() % 4 * 8] += share<4, 1>(of_rows);
  sums[k * TILE + column + row] += share<8, 4>(of_columns);
}

// multiply_blocks: the warps share out the tiles.
__device__ __noinline__ void multiply_blocks(const MultiplyBlocks &o, u32 j) {
  Packed packed = {(float *)o.blocks, (int)o.size};
  Halved halved = {(float *)o.blocks, o.halved ? (int)o.size : 0};
  packed.data += j * packed.size();
  halved.data += j * halved.size();
  int n = o.size, padded = packed.tiles() * TILE;
  HalfTile ahead;
  int side = packed.tiles(), i = 1, k = warp();
  while (k >= i) k -= i++;
  ahead.fetch(halved, i, k);
  float *vector = shared().staged[0], *all = vector + padded; // sums of each warp
  int summing = min(warps(), (int)(sizeof shared().staged / sizeof(float)) / padded - 1);
  for (int k = threadIdx.x; k < padded; k += blockDim.x) {
    vector[k] = k < n ? o.vectors[(u64)j * o.vectors_stride + (u64)k * o.vectors_step] : 0;
    for (int w = 0; w < summing; w++) all[w * padded + k] = 0;
  }
  __syncthreads();
  float *sums = all + warp() * padded;
  if (warp() < summing && o.halved) {
    while (i < side) {
      HalfTile tile = ahead;
      int row = i, column = k;
      k += summing;
      while (k >= i) k -= i++;
      ahead.fetch(halved, i, k);
      multiply_tile(tile, row, column, vector, sums);
      __syncwarp(0xffffffffu);
    }
    for (int d = warp(); d < side; d += summing) {
      multiply_tile(halved.diagonal(d), d, d, n - d * TILE, vector, sums);
      __syncwarp(0xffffffffu);
    }
  } else if (warp() < summing) {
    for (i = 0, k = warp(); i < side; k += summing) {
      while (k > i && i < side) k -= ++i;
      if (i >= side) break;
      multiply_tile(packed.tile(i, k), i, k, n - i * TILE, vector, sums);
      __syncwarp(0xffffffffu);
    }
  }
  __syncthreads();
  for (int k = threadIdx.x; k < n; k += blockDim.x) {
    float sum = 0;
    for (int w = 0; w < summing; w++) sum += all[w * padded + k];
    o.products[(u64)j * o.products_stride + (u64)k * o.products_step] = o.scale * sum;
  }
}

__device__ __noinline__ void diagonal(const Diagonal &o, u32 tile) {
  for (u32 e = tile * ELEMENTS + threadIdx.x; e < o.units * o.size && e < (tile + 1) * ELEMENTS; e += blockDim.x) {
    u32 j = e / o.size, k = e % o.size;
    double sum = 0;
    for (u32 r = 0; r < o.rows; r++) {
      double u = o.parents[(u64)r * o.parents_stride + k];
      sum += (double)information(o, r, j) * u * u;
    }
    o.factors[e] = (float)((1 + (double)o.damping) / ((double)o.damping + sum));
  }
}

__device__ __noinline__ void scale(const Scale &o, u32 tile) {
  for (u32 k = tile * ELEMENTS + threadIdx.x; k < o.count && k < (tile + 1) * ELEMENTS; k += blockDim.x)
    o.products[k] = o.numbers[k] * o.factors[k];
}

__device__ __noinline__ void update(const Update &o, u32 t, const u32 *inputs) {
  float rate = number(inputs, o.rate), correction = number(inputs, o.correction);
  float l1 = number(inputs, o.l1), l2 = number(inputs, o.l2);
  u32 columns = (o.width + TILE - 1) / TILE, first_unit = t / columns * TILE, first_parent = t % columns * TILE;
  for (u32 e = threadIdx.x; e < TILE * 8; e += blockDim.x) {
    u32 unit = first_unit + e / 8, parent = first_parent + e % 8 * 4;
    if (unit >= o.units || parent >= o.width) continue;
    u64 at = (u64)unit * o.width + parent;
    float4 none = {0, 0, 0, 0};
    float4 direction = *(const float4 *)(o.natural + at), point = *(const float4 *)(o.point + at);
    float4 parameter = *(const float4 *)(o.parameters + at);
    float4 first = o.first ? *(const float4 *)(o.first + at) : none, second = o.second ? *(const float4 *)(o.second + at) : none;
    float *g = &direction.x, *w = &point.x, *p = &parameter.x, *m = &first.x, *v = &second.x;
    UNROLL(4)
    for (u32 i = 0; i < 4; i++) {
      if (parent + i != 0 && w[i] != 0) g[i] -= l2 * w[i] + (w[i] > 0 ? l1 : -l1);
      if (parent + i == 0 && o.unbiased) g[i] = 0;
      float step = g[i];
      if (o.optimizer == ADAM) {
        m[i] = o.beta1 * m[i] + (float)o.rest1 * step;
        v[i] = o.beta2 * v[i] + (float)o.rest2 * step * step;
        step = (float)((double)m[i] / (sqrt((double)correction * v[i]) + o.epsilon));
      } else if (o.optimizer == MOMENTUM)
        step = m[i] = o.beta1 * m[i] + step;
      p[i] += rate * step;
    }
    *(float4 *)(o.direction + at) = direction;
    if (o.optimizer == STAY) continue;
    if (o.first) *(float4 *)(o.first + at) = first;
    if (o.second) *(float4 *)(o.second + at) = second;
    *(float4 *)(o.parameters + at) = parameter;
  }
}

// ---------------------------------------------------------------------------

__device__ void perform(u64 key, const Operation &o, u32 tile, const u32 *inputs) {
  switch (o.kind) {
  case LOOK_AHEAD: look_ahead(o.look_ahead, tile, inputs); break;
  case LOAD: load(key, o.load, tile, inputs); break;
  case OUTPUTS: outputs(key, o.outputs, tile, inputs); break;
  case WEIGH: weigh(key, o.weigh, tile, inputs); break;
  case GRADIENT: gradient(o.gradient, tile, inputs); break;
  case BLOCKS: blocks(o.blocks, tile); break;
  case MULTIPLY_BLOCKS: multiply_blocks(o.multiply_blocks, tile); break;
  case DIAGONAL: diagonal(o.diagonal, tile); break;
  case SCALE: scale(o.scale, tile); break;
  case UPDATE: update(o.update, tile, inputs); break;
  case REINFORCE: reinforce(o.reinforce, tile); break;
  case LEARN: learn(o.learn, tile); break;
  case ADVANCE: advance(o.advance, tile, inputs); break;
  case SOFTMAX: softmax(key, o.softmax, tile, inputs); break;
  case SCORE_LABELS: score_labels(o.score_labels, tile); break;
  case WEIGH_LABELS: weigh_labels(key, o.weigh_labels, tile, inputs); break;
  case CONDITION: condition(o.condition, tile); break;
  }
}

// constant reads two numbers of the program, which no launch writes.
template <class T> __device__ __forceinline__ T constant(const T *from) {
  static_assert(sizeof(T) == 8, "two numbers");
  const u32 *words = (const u32 *)from;
  return {__ldg(words), __ldg(words + 1)};
}

__device__ __forceinline__ void stage(const Operation *o) {
  for (u32 w = threadIdx.x; w < sizeof(Operation) / 4; w += blockDim.x)
    ((u32 *)&shared().operation)[w] = __ldg((const u32 *)o + w);
}

// Behind each phase is a barrier: a block waits until so many have arrived in all,
// with all that they wrote before to be seen. Meanwhile it fetches what it performs
// first in the next phase.
extern "C" __global__ void __launch_bounds__(32 * MOST_WARPS, 2)
walk(const Program program, const u32 *inputs, u64 passes) {
  u32 all = 0; // arrivals until the next barrier
  if (program.phase_count == 0) return;
  Phase phase = constant(program.phases);
  Tile at = {0, 0};
  if (blockIdx.x < phase.tiles) {
    at = constant(program.tiles + phase.first + blockIdx.x);
    stage(program.operations + at.operation);
  }
  for (u64 pass = 0; pass < passes; pass++, inputs += program.input_count) {
    for (u32 p = 0; p < program.phase_count; p++) {
      for (u32 tile = blockIdx.x; tile < phase.tiles; tile += gridDim.x) {
        Tile ahead = constant(program.tiles + phase.first + min(tile + gridDim.x, phase.tiles - 1));
        for (bool followed = true; followed;) {
          __syncthreads();
          perform(program.key, shared().operation, at.tile, inputs);
          followed = shared().operation.followed;
          __syncthreads(); // what is in shared memory is no longer needed
          if (followed) stage(program.operations + ++at.operation);
        }
        if (ahead.operation != at.operation) stage(program.operations + ahead.operation);
        at = ahead;
      }
      all += gridDim.x;
      __syncthreads();
      if (threadIdx.x == 0) arrive(program.arrived);
      phase = constant(program.phases + (p + 1) % program.phase_count);
      if (blockIdx.x < phase.tiles) {
        at = constant(program.tiles + phase.first + blockIdx.x);
        stage(program.operations + at.operation);
      }
      if (threadIdx.x == 0)
        while (arrivals(program.arrived) < all) relax();
      __syncthreads();
    }
  }
}
