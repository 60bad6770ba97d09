"""The kernel language. Made from the catalogue by slipring.language._stub: do not change it by hand."""

from typing import Annotated, Any, Callable, TypeVar, overload

from .. import Function

_T = TypeVar("_T")
_C = TypeVar("_C", bound=type)
# mypy takes this for true.
MYPY = False

class DType: ...
class Member: ...

class _Array:
    shape: tuple[int, ...]
    dtype: DType
    def __getitem__(self, at: Any) -> Any: ...
    def __setitem__(self, at: Any, value: Any) -> None: ...
    def __add__(self, other: Any) -> Any: ...
    def __sub__(self, other: Any) -> Any: ...
    def __mul__(self, other: Any) -> Any: ...
    def __truediv__(self, other: Any) -> Any: ...
    def __matmul__(self, other: Any) -> Any: ...
    def __mod__(self, other: Any) -> Any: ...
    def __and__(self, other: Any) -> Any: ...
    def __or__(self, other: Any) -> Any: ...
    def __xor__(self, other: Any) -> Any: ...
    def __invert__(self) -> Any: ...
    def __neg__(self) -> Any: ...
    def __radd__(self, other: Any) -> Any: ...
    def __rsub__(self, other: Any) -> Any: ...
    def __rmul__(self, other: Any) -> Any: ...
    def __rtruediv__(self, other: Any) -> Any: ...
    def __lt__(self, other: Any) -> Any: ...
    def __le__(self, other: Any) -> Any: ...
    def __gt__(self, other: Any) -> Any: ...
    def __ge__(self, other: Any) -> Any: ...
    @property
    def T(self) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

if MYPY:
    from ._any import Scalar as Scalar
    from ._any import Tensor as Tensor
    from ._any import Tile as Tile
else:
    class Tensor(_Array):
        """A tensor in global memory: `pl.Tensor[[64, 64], pl.FP32]`, or `pl.Tensor` for the shape that is passed."""
        def __class_getitem__(cls, parts: Any) -> Any: ...

    class Tile(_Array):
        """A tile in a local memory."""
        def __class_getitem__(cls, parts: Any) -> Any: ...

    class Scalar(_Array):
        """A number that is passed: `pl.Scalar[pl.INT32]`."""
        def __index__(self) -> int: ...
        def __class_getitem__(cls, parts: Any) -> Any: ...

# An output.
Out = Annotated[_T, "output"]
# Read and written.
InOut = Annotated[_T, "read and written"]

# A parameter that is a constant of the kernel: `TILE: pl.constexpr = 64`.
constexpr = Annotated[Any, "constant"]

class Config(dict[str, Any]):
    """Constants of a kernel that are tried together."""
    blocks: int | None
    def __init__(self, constants: dict[str, Any] | None = ..., *, blocks: int | None = ..., **more: Any) -> None: ...

def autotune(configs: Any, key: Any = ...) -> Callable[[Any], Any]:
    """Runs the configuration that takes the fewest cycles."""

class _Decorator:
    @overload
    def __call__(self, function: _C, /) -> _C: ...
    @overload
    def __call__(self, function: Callable[..., Any], /) -> Function: ...
    @overload
    def __call__(self, **options: Any) -> Callable[[Callable[..., Any]], Function]: ...
    def __getattr__(self, name: str) -> _Decorator: ...

class _Word:
    def __call__(self, *args: Any, **options: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...
    def __getitem__(self, at: Any) -> Any: ...
    def __enter__(self) -> Any: ...
    def __exit__(self, *args: Any) -> None: ...

class DynVar(_Word):
    """The type of what `pl.dynamic("M")` gives."""

incore: _Decorator
"""Decorator: makes a kernel of a function."""
jit: _Decorator
"""Decorator: makes a kernel of a function, compiled for the shapes that it is called with."""
kernel: _Decorator
"""Decorator: makes a kernel of a function."""
function: _Decorator
"""Decorator: a function of a program; `type` says what: InCore, Opaque, AIC, AIV, Inline, Orchestration."""
inline: _Decorator
"""Decorator: a part of kernels, copied to where it is called."""
program: _Decorator
"""Decorator of a class: its functions are one program."""
range: _Word
"""A loop that counts; with `init_values` it binds `i, (a, b)` and its body ends in `pl.yield_`."""
unroll: _Word
"""A loop that is unrolled completely: its counter is a constant."""
parallel: _Word
"""A loop whose iterations do not depend on each other; they run in order."""
pipeline: _Word
"""A loop whose body holds `stage` iterations, each with its own buffers, so that they overlap."""
while_: _Word
"""A loop with values: `for (i,) in pl.while_(init_values=(0,)):`; its body begins with `pl.cond` and ends in `pl.yield_`."""
cond: _Word
"""In a `pl.while_` loop: whether to run another iteration."""
yield_: _Word
"""The last line of a loop with `init_values`: the values with which the next iteration begins, and the results of the loop."""
spmd: _Word
"""A loop or scope that `core_num` blocks run, each with its own `pl.get_block_idx()`."""
split_aiv: _Word
"""A region that both Vector cores run: `for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):`."""
at: _Word
"""A scope: its body runs on a cluster, `with pl.at(level=pl.Level.CORE_GROUP):`."""
cluster: _Word
"""A scope of functions that run together on one cluster."""
split: _Word
"""In `optimizations=[…]`: the compiler divides the Vector work of the scope between both Vector cores."""
optimizations: _Word
"""`pl.optimizations.split` is `pl.split`, and so for `cross_core_slot`."""
cross_core_slot: _Word
"""In `optimizations=[…]`: the number of slots in the rings between the cores; 2 by default."""
SplitMode: _Word
"""How a tile is divided between the lanes: by rows, by columns, not at all."""
Mem: _Word
"""A memory: UB, L1, L0A, L0B, L0C, and the one for biases."""
MemorySpace: _Word
"""The same as `pl.Mem`."""
Level: _Word
"""Where a scope runs: on a cluster."""
Role: _Word
"""What a function of the host does."""
PadValue: _Word
"""The value that `pl.fillpad` writes outside the valid part."""
FunctionType: _Word
"""What a function is."""
TileLayout: _Word
"""The layout of a tile in its memory."""
TensorLayout: _Word
"""The layout of a tensor in global memory."""
AtomicType: _Word
"""How a store combines with the existing contents: by addition."""
MX_A_ZZ: _Word
"""After shape and type: packed scales of a left operand."""
MX_B_NN: _Word
"""After shape and type: packed scales of a right operand."""
AUTO: _Word
"""A size that the compiler chooses."""
const: _Word
"""A number of a type."""
static_assert: _Word
"""Must hold when the kernel is compiled; otherwise it is an error."""
assume: _Word
"""What the scalar arguments of each launch satisfy: `pl.assume(n % 8 == 0, 0 < n <= 256)`."""
static_print: _Word
"""Prints values when the kernel is compiled."""
dynamic: _Word
"""An extent that is known when the kernel is called: `M = pl.dynamic("M")`."""
FP32: DType
"""An element type: a float."""
FP16: DType
"""An element type: a float."""
BF16: DType
"""An element type: a float."""
BFLOAT16: DType
"""An element type: a float."""
FP8E4M3FN: DType
"""An element type: a float."""
FP8E5M2: DType
"""An element type: a float."""
FP8E8M0: DType
"""An element type: a scale, a power of two."""
HF8: DType
"""An element type: a float."""
INT8: DType
"""An element type: a signed integer."""
INT16: DType
"""An element type: a signed integer."""
INT32: DType
"""An element type: a signed integer."""
INT64: DType
"""An element type: a signed integer."""
UINT8: DType
"""An element type: an unsigned integer."""
UINT16: DType
"""An element type: an unsigned integer."""
UINT32: DType
"""An element type: an unsigned integer."""
UINT64: DType
"""An element type: an unsigned integer."""
INDEX: _Word
"""The type of indices and extents."""
BOOL: DType
"""An element type: bytes, 0 and 1."""
tile: _Word
tensor: _Word
system: _Word

def add(lhs: Any, rhs: Any) -> Any:
    """Sum."""

def sub(lhs: Any, rhs: Any) -> Any:
    """Difference."""

def mul(lhs: Any, rhs: Any) -> Any:
    """Product of elements."""

def div(lhs: Any, rhs: Any, high_precision: Any = ...) -> Any:
    """Quotient."""

def maximum(lhs: Any, rhs: Any) -> Any:
    """Larger element."""

def max(lhs: Any, rhs: Any) -> Any:
    """Larger element."""

def minimum(lhs: Any, rhs: Any) -> Any:
    """Smaller element."""

def min(lhs: Any, rhs: Any) -> Any:
    """Smaller element."""

def fmod(lhs: Any, rhs: Any) -> Any:
    """Remainder, rounded towards zero."""

def part_add(lhs: Any, rhs: Any) -> Any:
    """Sum where both are valid, else the one that is."""

def part_mul(lhs: Any, rhs: Any) -> Any:
    """Product where both are valid."""

def part_max(lhs: Any, rhs: Any) -> Any:
    """Larger element where both are valid."""

def part_min(lhs: Any, rhs: Any) -> Any:
    """Smaller element where both are valid."""

def and_(lhs: Any, rhs: Any) -> Any:
    """Bitwise and."""

def or_(lhs: Any, rhs: Any) -> Any:
    """Bitwise or."""

def shl(lhs: Any, rhs: Any) -> Any:
    """Shift left."""

def shr(lhs: Any, rhs: Any) -> Any:
    """Shift right."""

@overload
def rem(lhs: Any, rhs: Any, tmp: Any = ...) -> Any:
    """Remainder, rounded down."""

@overload
def rem(lhs: Any, slope: Any, tmp: Any = ...) -> Any:
    """Remainder, rounded down."""

@overload
def rems(lhs: Any, rhs: Any, tmp: Any = ...) -> Any:
    """Remainder of a division by a number, rounded down."""

@overload
def rems(lhs: Any, slope: Any, tmp: Any = ...) -> Any:
    """Remainder of a division by a number, rounded down."""

@overload
def xor(lhs: Any, rhs: Any, tmp: Any = ...) -> Any:
    """Bitwise exclusive or."""

@overload
def xor(lhs: Any, slope: Any, tmp: Any = ...) -> Any:
    """Bitwise exclusive or."""

@overload
def xors(lhs: Any, rhs: Any, tmp: Any = ...) -> Any:
    """Bitwise exclusive or with a number."""

@overload
def xors(lhs: Any, slope: Any, tmp: Any = ...) -> Any:
    """Bitwise exclusive or with a number."""

@overload
def lrelu(lhs: Any, rhs: Any, tmp: Any = ...) -> Any:
    """Negative elements times a slope."""

@overload
def lrelu(lhs: Any, slope: Any, tmp: Any = ...) -> Any:
    """Negative elements times a slope."""

@overload
def prelu(lhs: Any, rhs: Any, tmp: Any = ...) -> Any:
    """Negative elements times a slope for each element."""

@overload
def prelu(lhs: Any, slope: Any, tmp: Any = ...) -> Any:
    """Negative elements times a slope for each element."""

def adds(lhs: Any, rhs: Any) -> Any:
    """Add a number."""

def subs(lhs: Any, rhs: Any) -> Any:
    """Subtract a number."""

def muls(lhs: Any, rhs: Any) -> Any:
    """Multiply by a number."""

def divs(lhs: Any, rhs: Any) -> Any:
    """Divide by a number."""

def maximums(lhs: Any, rhs: Any) -> Any:
    """Larger of element and number."""

def maxs(lhs: Any, rhs: Any) -> Any:
    """Larger of element and number."""

def minimums(lhs: Any, rhs: Any) -> Any:
    """Smaller of element and number."""

def mins(lhs: Any, rhs: Any) -> Any:
    """Smaller of element and number."""

def ands(lhs: Any, rhs: Any) -> Any:
    """Bitwise and with a number."""

def ors(lhs: Any, rhs: Any) -> Any:
    """Bitwise or with a number."""

def shls(lhs: Any, rhs: Any) -> Any:
    """Shift left by a number."""

def shrs(lhs: Any, rhs: Any) -> Any:
    """Shift right by a number."""

def fmods(lhs: Any, rhs: Any) -> Any:
    """Remainder of a division by a number."""

def exp(x: Any) -> Any:
    """Exponential."""

def log(x: Any, high_precision: Any = ...) -> Any:
    """Natural logarithm."""

def sqrt(x: Any) -> Any:
    """Square root."""

def rsqrt(x: Any, high_precision: Any = ...) -> Any:
    """One over the square root."""

def recip(x: Any, high_precision: Any = ...) -> Any:
    """Reciprocal."""

def neg(x: Any) -> Any:
    """Negation."""

def abs(x: Any) -> Any:
    """Absolute value."""

def relu(x: Any) -> Any:
    """Negative elements become 0."""

def not_(x: Any) -> Any:
    """Bitwise complement."""

def cast(x: Any, target_type: Any, mode: Any = ...) -> Any:
    """Convert to another element type; `mode` is none, rint, round (ties away from zero, the default), floor, ceil, trunc or odd."""

def cmp(lhs: Any, rhs: Any, cmp_type: Any = ...) -> Any:
    """Compare elements: a mask of bits; `cmp_type` is eq, ne, lt, le, gt, ge or 0 to 5."""

def cmps(lhs: Any, rhs: Any, cmp_type: Any = ...) -> Any:
    """Compare elements: a mask of bits; `cmp_type` is eq, ne, lt, le, gt, ge or 0 to 5."""

def sel(mask: Any, lhs: Any, rhs: Any, tmp: Any = ...) -> Any:
    """Elements of `lhs` where the mask has a bit, else of `rhs`."""

def where(mask: Any, lhs: Any, rhs: Any, tmp: Any = ...) -> Any:
    """Elements of `lhs` where the mask has a bit, else of `rhs`."""

@overload
def sels(mask: Any, lhs: Any, rhs: Any, tmp: Any = ...) -> Any:
    """Elements of a tile where the mask has a bit, else a number."""

@overload
def sels(mask: Any, src: Any, tmp: Any, scalar: Any) -> Any:
    """Elements of a tile where the mask has a bit, else a number."""

def addc(a: Any, b: Any, c: Any) -> Any:
    """Sum of three tiles."""

def subc(a: Any, b: Any, c: Any) -> Any:
    """First minus second plus third tile."""

def addsc(a: Any, scalar: Any, b: Any) -> Any:
    """Tile plus number plus tile."""

def subsc(a: Any, scalar: Any, b: Any) -> Any:
    """Tile minus number plus tile."""

def zeros(shape: Any, dtype: Any) -> Any:
    """A tile of zeros: `pl.full`."""

def ones(shape: Any, dtype: Any) -> Any:
    """A tile of ones: `pl.full`."""

def zeros_like(x: Any) -> Any:
    """A tile like another one, of zeros: `pl.expands`."""

def ones_like(x: Any) -> Any:
    """A tile like another one, of ones: `pl.expands`."""

def square(x: Any) -> Any:
    """Each element times itself: `pl.mul`."""

def sigmoid(x: Any) -> Any:
    """`pl.recip(pl.exp(-x) + 1.0)`."""

def silu(x: Any) -> Any:
    """`x * pl.recip(pl.exp(-x) + 1.0)`."""

def tanh(x: Any) -> Any:
    """`1.0 - pl.recip(pl.exp(x * 2.0) + 1.0) * 2.0`."""

def clamp(x: Any, least: Any, most: Any) -> Any:
    """Elements between two bounds: `pl.maximum(pl.minimum(x, most), least)`."""

def clip(x: Any, least: Any, most: Any) -> Any:
    """Elements between two bounds: `pl.maximum(pl.minimum(x, most), least)`."""

def cdiv(a: Any, b: Any) -> Any:
    """A quotient of integers, rounded up: `(a + b - 1) // b`."""

def row_sum(x: Any, tmp_tile: Any = ...) -> Any:
    """Sum of each row."""

def row_max(x: Any, tmp_tile: Any = ...) -> Any:
    """Largest element of each row."""

def row_min(x: Any, tmp_tile: Any = ...) -> Any:
    """Smallest element of each row."""

def row_mean(x: Any, tmp_tile: Any = ...) -> Any:
    """Mean of each row: its sum times a constant."""

def col_mean(x: Any, tmp_tile: Any = ...) -> Any:
    """Mean of each column: its sum times a constant."""

def row_prod(x: Any, tmp_tile: Any = ...) -> Any:
    """Product of each row."""

def row_argmax(x: Any, tmp_tile: Any = ...) -> Any:
    """Column of the largest element of each row."""

def row_argmin(x: Any, tmp_tile: Any = ...) -> Any:
    """Column of the smallest element of each row."""

def col_sum(x: Any, tmp_tile: Any = ...) -> Any:
    """Sum of each column; in pairs of rows where `tmp` is given."""

def col_max(x: Any, tmp_tile: Any = ...) -> Any:
    """Largest element of each column."""

def col_min(x: Any, tmp_tile: Any = ...) -> Any:
    """Smallest element of each column."""

def col_prod(x: Any, tmp_tile: Any = ...) -> Any:
    """Product of each column."""

def col_argmax(x: Any, tmp_tile: Any = ...) -> Any:
    """Row of the largest element of each column."""

def col_argmin(x: Any, tmp_tile: Any = ...) -> Any:
    """Row of the smallest element of each column."""

def row_expand_add(x: Any, values: Any, tmp: Any = ...) -> Any:
    """Add, a value for each row."""

def row_expand_sub(x: Any, values: Any, tmp: Any = ...) -> Any:
    """Subtract, a value for each row."""

def row_expand_mul(x: Any, values: Any, tmp: Any = ...) -> Any:
    """Multiply, a value for each row."""

def row_expand_div(x: Any, values: Any, tmp: Any = ...) -> Any:
    """Divide, a value for each row."""

def row_expand_max(x: Any, values: Any, tmp: Any = ...) -> Any:
    """Larger, a value for each row."""

def row_expand_min(x: Any, values: Any, tmp: Any = ...) -> Any:
    """Smaller, a value for each row."""

def row_expand_expdif(x: Any, values: Any, tmp: Any = ...) -> Any:
    """Exponential of a difference, a value for each row."""

def col_expand_add(x: Any, values: Any, tmp: Any = ...) -> Any:
    """Add, a value for each column."""

def col_expand_sub(x: Any, values: Any, tmp: Any = ...) -> Any:
    """Subtract, a value for each column."""

def col_expand_mul(x: Any, values: Any, tmp: Any = ...) -> Any:
    """Multiply, a value for each column."""

def col_expand_div(x: Any, values: Any, tmp: Any = ...) -> Any:
    """Divide, a value for each column."""

def col_expand_max(x: Any, values: Any, tmp: Any = ...) -> Any:
    """Larger, a value for each column."""

def col_expand_min(x: Any, values: Any, tmp: Any = ...) -> Any:
    """Smaller, a value for each column."""

def col_expand_expdif(x: Any, values: Any, tmp: Any = ...) -> Any:
    """Exponential of a difference, a value for each column."""

def create_tile(shape: Any, dtype: Any, target_memory: Any = ..., transpose: Any = ..., *, flat_layout: Any = ...) -> Any:
    """An uninitialised tile."""

def create(shape: Any, dtype: Any, target_memory: Any = ..., transpose: Any = ..., *, flat_layout: Any = ...) -> Any:
    """An uninitialised tile."""

def full(shape: Any, dtype: Any, value: Any) -> Any:
    """A tile of one number."""

def expands(target: Any, scalar: Any) -> Any:
    """A tile like another one, of one number."""

def ci(start: Any, shape: Any, dtype: Any = ..., descending: Any = ...) -> Any:
    """Consecutive integers; as floats by `pl.cast`."""

def arange(start: Any, shape: Any, dtype: Any = ..., descending: Any = ...) -> Any:
    """Consecutive integers; as floats by `pl.cast`."""

def reshape(x: Any, shape: Any) -> Any:
    """The same elements, row by row, in another shape."""

def view(x: Any, shape: Any = ..., valid_shape: Any = ..., *, layout: Any = ...) -> Any:
    """The same elements in another shape: `reshape`."""

def expand_clone(src: Any, target: Any) -> Any:
    """A tile like the second in which the first's single row or column is repeated; where that is an output, it is written."""

def broadcast_to(x: Any, shape: Any) -> Any:
    """A single row or column repeated to a shape."""

def transpose(x: Any, axis1: Any = ..., axis2: Any = ..., tmp_tile: Any = ...) -> Any:
    """Rows become columns."""

def slice(x: Any, shape: Any, offset: Any, valid_shape: Any = ..., drop_dims: Any = ..., pad_value: Any = ..., clamp: Any = ...) -> Any:
    """A part of a tensor or tile."""

def row_expand(x: Any, values: Any, tmp: Any = ...) -> Any:
    """A tile like the first with the second's value of each row."""

def col_expand(x: Any, values: Any) -> Any:
    """A tile like the first with the second's value of each column."""

def set_validshape(x: Any, rows: Any, cols: Any) -> Any:
    """The same tile with only its first rows and columns valid."""

def fillpad(x: Any, pad_value: Any = ...) -> Any:
    """A copy of which all elements count: those outside the valid shape are zero, or the smallest or largest value."""

def fillpad_inplace(x: Any, pad_value: Any = ...) -> Any:
    """The same; the tile itself stays as it is."""

def fillpad_expand(x: Any, shape: Any, pad_value: Any = ...) -> Any:
    """A copy in a larger tile, the rest filled."""

def tri(diagonal: Any, shape: Any, valid_shape: Any = ..., dtype: Any = ..., upper: Any = ...) -> Any:
    """Ones up to a diagonal, zeros after it; with `upper` from it on."""

def reinterpret_view(x: Any, dtype: Any, *, shape: Any = ...) -> Any:
    """The same bytes as elements of another type."""

def create_l1(shape: Any, dtype: Any, transpose: Any = ...) -> Any:
    """An uninitialised tile for an operand of a product, which `gather_row` fills."""

def concat(a: Any, b: Any) -> Any:
    """Two tiles side by side."""

def sin(x: Any) -> Any:
    """Sine of FP32, in radians: reduced by π in four parts, then a polynomial."""

def cos(x: Any) -> Any:
    """Cosine of FP32, in radians: reduced by π in four parts, then a polynomial."""

def gather_row(dst: Any, src: Any, dst_offset: Any, src_offset: Any, shapes: Any, transpose: Any = ..., *, valid_shape: Any = ...) -> Any:
    """Load a window of a tensor into a part of a tile."""

@overload
def gather(src: Any, indices: Any, tmp: Any) -> Any:
    """Elements of a tile that indices name, counted over the tile; with `dim=-1` over each row; by a pattern or comparison."""

@overload
def gather(input: Any, dim: Any, index: Any) -> Any:
    """Elements of a tile that indices name, counted over the tile; with `dim=-1` over each row; by a pattern or comparison."""

@overload
def gather(input: Any, *, mask_pattern: Any, output_dtype: Any = ...) -> Any:
    """Elements of a tile that indices name, counted over the tile; with `dim=-1` over each row; by a pattern or comparison."""

@overload
def gather(input: Any, *, kvalue: Any, cmp_mode: Any = ..., out_cols: Any, offset: Any = ..., count_dtype: Any = ...) -> Any:
    """Elements of a tile that indices name, counted over the tile; with `dim=-1` over each row; by a pattern or comparison."""

def gather_mask(input: Any, mask_pattern: Any, *, output_dtype: Any = ...) -> Any:
    """Every second or fourth column, by a pattern of 1 (P0101) to 7 (P1111)."""

def gather_compare(input: Any, kvalue: Any, tmp: Any, *, cmp_mode: Any = ..., offset: Any = ..., out_cols: Any, count_dtype: Any = ...) -> Any:
    """The columns of each row whose elements are equal to, or greater than, a number, and how many they are."""

def gatherb(src: Any, offset: Any, *, output_dtype: Any = ...) -> Any:
    """Blocks of 32 bytes of a tile, by byte offsets."""

@overload
def scatter(dst: Any, src: Any, indexes: Any) -> Any:
    """Elements put where indices say, counted over the tile, the rest 0; with `dim=-1` over each row, the rest as it was."""

@overload
def scatter(input: Any, dim: Any, index: Any, src: Any) -> Any:
    """Elements put where indices say, counted over the tile, the rest 0; with `dim=-1` over each row, the rest as it was."""

@overload
def scatter(input: Any, *, mask_pattern: Any, dst: Any) -> Any:
    """Elements put where indices say, counted over the tile, the rest 0; with `dim=-1` over each row, the rest as it was."""

def scatter_mask(dst: Any, src: Any, mask_pattern: Any) -> Any:
    """The columns of the first that a pattern names become those of the second, the rest as it was."""

def mgather(mem: Any, idx: Any, coalesce: Any = ..., *, gather_oob: Any = ..., target_memory: Any = ..., scratch: Any = ..., valid_shape: Any = ...) -> Any:
    """Rows of a tensor by index, or with `coalesce="elem"` elements, counted over the tensor."""

def mscatter(src: Any, idx: Any, output_tensor: Any) -> Any:
    """Elements of a tile to the elements of a tensor that indices name, counted over the tensor."""

def paged_gather(src: Any, indices: Any, block_table: Any, block_size: Any, size: Any, max_indices: Any, *, space: Any = ..., col_off: Any = ..., is_trans: Any = ..., is_b_matrix: Any = ...) -> Any:
    """Rows of a paged tensor: row `block_table[i // block_size] * block_size + i % block_size` for each index."""

@overload
def scatter_update(input: Any, dim: Any, index: Any, src: Any) -> Any:
    """A copy of the input whose rows that the indices name are those of the source."""

@overload
def scatter_update(input: Any, index: Any, src: Any, dim: Any = ...) -> Any:
    """A copy of the input whose rows that the indices name are those of the source."""

def sort32(src: Any, idx: Any) -> Any:
    """Each 32 elements of a row in descending order, as records of 8 bytes: element, then its number of `idx` (UINT32)."""

def mrgsort(src0: Any, src1: Any = ..., src2: Any = ..., src3: Any = ..., tmp: Any = ..., exhausted: Any = ..., *, block_len: Any = ...) -> Any:
    """Sorted lists of records merged: every four runs of `block_len` elements of one row, or two to four lists."""

@overload
def random(key0: Any, key1: Any, counter0: Any, counter1: Any, counter2: Any, counter3: Any, shape: Any, valid_shape: Any = ..., dtype: Any = ..., rounds: Any = ...) -> Any:
    """Words of Philox 4x32 for a key and a counter (A5)."""

@overload
def random(key0: Any, key1: Any, counter0: Any, counter1: Any, counter2: Any, counter3: Any, shape: Any, dtype: Any, rounds: Any) -> Any:
    """Words of Philox 4x32 for a key and a counter (A5)."""

def matmul(lhs: Any, rhs: Any, out_dtype: Any = ..., a_trans: Any = ..., b_trans: Any = ..., c_matrix_nz: Any = ...) -> Any:
    """Product of two matrices, in f32 (i32 for 8-bit integers)."""

def matmul_acc(acc: Any, lhs: Any, rhs: Any, a_trans: Any = ..., b_trans: Any = ..., init_cond: Any = ...) -> Any:
    """Product added to an accumulator, in place; where `init_cond` holds, put there."""

@overload
def gemv(lhs: Any, rhs: Any, out_dtype: Any = ..., a_trans: Any = ..., b_trans: Any = ..., c_matrix_nz: Any = ..., acc_phase: Any = ...) -> Any:
    """Product of a row and a matrix."""

@overload
def gemv(lhs: Any, rhs: Any, acc_phase: Any) -> Any:
    """Product of a row and a matrix."""

@overload
def gemv_acc(acc: Any, lhs: Any, rhs: Any, a_trans: Any = ..., b_trans: Any = ..., init_cond: Any = ..., acc_phase: Any = ...) -> Any:
    """Product of a row and a matrix added to an accumulator, in place."""

@overload
def gemv_acc(acc: Any, lhs: Any, rhs: Any, acc_phase: Any) -> Any:
    """Product of a row and a matrix added to an accumulator, in place."""

@overload
def gemv_bias(lhs: Any, rhs: Any, bias: Any, a_trans: Any = ..., b_trans: Any = ..., acc_phase: Any = ...) -> Any:
    """Product of a row and a matrix, a bias added."""

@overload
def gemv_bias(lhs: Any, rhs: Any, bias: Any, acc_phase: Any) -> Any:
    """Product of a row and a matrix, a bias added."""

def matmul_mx(lhs: Any, lhs_scale: Any, rhs: Any, rhs_scale: Any) -> Any:
    """Product of 8-bit floats with a scale for each 32 of them along k."""

def matmul_mx_acc(acc: Any, lhs: Any, lhs_scale: Any, rhs: Any, rhs_scale: Any) -> Any:
    """Product with scales added to an accumulator, in place."""

def matmul_mx_bias(lhs: Any, lhs_scale: Any, rhs: Any, rhs_scale: Any, bias: Any) -> Any:
    """Product with scales, a bias added to each row."""

def batch_matmul(lhs: Any, rhs: Any, out_dtype: Any = ..., a_trans: Any = ..., b_trans: Any = ..., c_matrix_nz: Any = ...) -> Any:
    """Products of two lists of matrices; `matmul` takes lists too."""

def batch_matmul_acc(acc: Any, lhs: Any, rhs: Any, a_trans: Any = ..., b_trans: Any = ..., init_cond: Any = ...) -> Any:
    """Products of two lists of matrices added to accumulators, in place."""

def matmul_bias(lhs: Any, rhs: Any, bias: Any, a_trans: Any = ..., b_trans: Any = ...) -> Any:
    """Product, a bias added to each row."""

def load(tensor: Any, offsets: Any, shapes: Any, valid_shape: Any = ..., target_memory: Any = ..., clamp: Any = ...) -> Any:
    """Load a window of a tensor into a tile."""

def store(tile: Any, offsets: Any, tensor: Any, shapes: Any = ..., *, atomic: Any = ..., clamp: Any = ...) -> Any:
    """Store a tile into a window of a tensor."""

def assemble(target: Any, source: Any, offset: Any, *, atomic: Any = ...) -> Any:
    """Store a tile into a window of a tensor, or put it into a larger tile."""

def move(tile: Any, target_memory: Any, blayout: Any = ..., slayout: Any = ...) -> Any:
    """Move a tile to another memory."""

def extract(src: Any, row: Any, col: Any, shape: Any, *, target_memory: Any = ...) -> Any:
    """A window of a tile, copied out, also to L0A and L0B."""

def alloc(*args: Any, **options: Any) -> Any:
    """Memory without a shape. Known, and refused: it cannot be compiled yet."""

def create_tensor(shape: Any, dtype: Any, layout: Any = ..., manual_dep: Any = ..., init_value: Any = ...) -> Any:
    """A tensor of the kernel's own in global memory: one more buffer of the launch."""

def transpose_view(tile: Any) -> Any:
    """A tile of L1 with rows and columns exchanged: the same bytes."""

def read(src: Any, offset: Any) -> Any:
    """Read one element."""

def write(dst: Any, offset: Any, value: Any) -> Any:
    """Write one element."""

def dim(tensor: Any, axis: Any) -> Any:
    """An extent."""

def aiv_shard(tile: Any, mode: Any = ...) -> Any:
    """This lane's part of a tile of the Cube core."""

def aic_gather(tile: Any, mode: Any = ...) -> Any:
    """The lanes' tiles, put together for the Cube core."""

def get_block_idx() -> Any:
    """Index of this block."""

def program_id(axis: Any = ...) -> Any:
    """Index of this block: a launch has one axis, 0."""

def get_block_num() -> Any:
    """Number of blocks."""

def num_programs(axis: Any = ...) -> Any:
    """Number of blocks: a launch has one axis, 0."""

def get_subblock_idx() -> Any:
    """Which Vector core of the cluster this is."""

def reserve_buffer(name: Any, size: Any, base: Any = ...) -> Any:
    """Memory for the slots of a ring that this core consumes."""

def import_peer_buffer(name: Any, peer_func: Any) -> Any:
    """The memory that the peer reserved."""

@overload
def aic_initialize_pipe(dir_mask: Any, slot_size: Any, gm_slot_buffer: Any = ..., c2v_consumer_buf: Any = ..., v2c_consumer_buf: Any = ..., slot_num: Any = ..., local_slot_num: Any = ..., id: Any = ..., lane: Any = ...) -> Any:
    """The Cube core's ends of a pipe."""

@overload
def aic_initialize_pipe(c2v_buf: Any = ..., v2c_buf: Any = ..., *, dir_mask: Any, slot_size: Any, slot_num: Any = ..., local_slot_num: Any = ..., id: Any = ..., lane: Any = ..., gm_slot_buffer: Any = ...) -> Any:
    """The Cube core's ends of a pipe."""

@overload
def aiv_initialize_pipe(dir_mask: Any, slot_size: Any, gm_slot_buffer: Any = ..., c2v_consumer_buf: Any = ..., v2c_consumer_buf: Any = ..., slot_num: Any = ..., local_slot_num: Any = ..., id: Any = ..., lane: Any = ...) -> Any:
    """A Vector core's ends of a pipe."""

@overload
def aiv_initialize_pipe(c2v_buf: Any = ..., v2c_buf: Any = ..., *, dir_mask: Any, slot_size: Any, slot_num: Any = ..., local_slot_num: Any = ..., id: Any = ..., lane: Any = ..., gm_slot_buffer: Any = ...) -> Any:
    """A Vector core's ends of a pipe."""

@overload
def TPUSH(tile: Any, pipe: Any = ..., *, split: Any = ..., id: Any = ..., lane_stride: Any = ...) -> Any:
    """Push a tile to the other kind of core."""

@overload
def TPUSH(prod: Any, tile: Any, fifo: Any, *, split: Any = ..., id: Any = ..., lane_stride: Any = ...) -> Any:
    """Push a tile to the other kind of core."""

@overload
def tpush_to_aiv(tile: Any, pipe: Any = ..., *, split: Any = ..., id: Any = ..., lane_stride: Any = ...) -> Any:
    """Push a tile to the Vector cores."""

@overload
def tpush_to_aiv(prod: Any, tile: Any, fifo: Any, *, split: Any = ..., id: Any = ..., lane_stride: Any = ...) -> Any:
    """Push a tile to the Vector cores."""

@overload
def tpush_to_aic(tile: Any, pipe: Any = ..., *, split: Any = ..., id: Any = ..., lane_stride: Any = ...) -> Any:
    """Push a tile to the Cube core."""

@overload
def tpush_to_aic(prod: Any, tile: Any, fifo: Any, *, split: Any = ..., id: Any = ..., lane_stride: Any = ...) -> Any:
    """Push a tile to the Cube core."""

@overload
def TPOP(pipe: Any = ..., *, shape: Any = ..., dtype: Any = ..., split: Any = ..., id: Any = ..., lane_stride: Any = ...) -> Any:
    """Pop a tile of the other kind of core."""

@overload
def TPOP(cons: Any, tile: Any, fifo: Any, *, split: Any = ..., id: Any = ..., lane_stride: Any = ...) -> Any:
    """Pop a tile of the other kind of core."""

@overload
def tpop_from_aic(pipe: Any = ..., *, shape: Any = ..., dtype: Any = ..., split: Any = ..., id: Any = ..., lane_stride: Any = ...) -> Any:
    """Pop a tile of the Cube core."""

@overload
def tpop_from_aic(cons: Any, tile: Any, fifo: Any, *, split: Any = ..., id: Any = ..., lane_stride: Any = ...) -> Any:
    """Pop a tile of the Cube core."""

@overload
def tpop_from_aiv(pipe: Any = ..., *, shape: Any = ..., dtype: Any = ..., split: Any = ..., id: Any = ..., lane_stride: Any = ...) -> Any:
    """Pop a tile of the Vector cores."""

@overload
def tpop_from_aiv(cons: Any, tile: Any, fifo: Any, *, split: Any = ..., id: Any = ..., lane_stride: Any = ...) -> Any:
    """Pop a tile of the Vector cores."""

def TFREE(tile: Any = ..., split: Any = ..., id: Any = ...) -> Any:
    """Give a popped slot back."""

def tfree_to_aic(tile: Any = ..., split: Any = ..., id: Any = ...) -> Any:
    """Give a slot back to the Cube core."""

def tfree_from_aic(tile: Any = ..., split: Any = ..., id: Any = ...) -> Any:
    """Give a slot back to the Cube core."""

def tfree_to_aiv(tile: Any = ..., split: Any = ..., id: Any = ...) -> Any:
    """Give a slot back to the Vector cores."""

def tfree_from_aiv(tile: Any = ..., split: Any = ..., id: Any = ...) -> Any:
    """Give a slot back to the Vector cores."""

def bar_all(*args: Any, **options: Any) -> Any:
    """Nothing: ops take effect one after another, and the compiler adds the synchronisation that keeps it so."""

def bar_v(*args: Any, **options: Any) -> Any:
    """Nothing: ops take effect one after another, and the compiler adds the synchronisation that keeps it so."""

def bar_m(*args: Any, **options: Any) -> Any:
    """Nothing: ops take effect one after another, and the compiler adds the synchronisation that keeps it so."""

def sync_src(*args: Any, **options: Any) -> Any:
    """Nothing, for the same reason."""

def sync_dst(*args: Any, **options: Any) -> Any:
    """Nothing, for the same reason."""

def func_attr(attrs: Any) -> Any:
    """What the function says of itself, as `attrs=` of its decorator: how it is divided, its blocks, slots of its rings."""

def dump_tag(x: Any) -> Any:
    """Nothing: it says which tensor the public compiler reports."""

def no_dep(x: Any) -> Any:
    """The value itself."""

def print(x: Any, second: Any = ..., third: Any = ..., fourth: Any = ..., fifth: Any = ..., sixth: Any = ..., *, label: Any = ...) -> Any:
    """Print texts, numbers and tiles in the order of the program, with label, core, block and iteration."""

def device_assert(cond: Any, msg: Any = ...) -> Any:
    """Claim that a condition holds: a finding with the values where it does not, nothing where it is known to; as `assert`."""

def syncall(*, core_type: Any = ..., mode: Any = ..., gm_workspace: Any = ..., used_cores: Any = ...) -> Any:
    """Wait until all cores of the launch have come here; what they stored before is visible after it."""

def sync_set(*args: Any, **options: Any) -> Any:
    """Synchronisation by hand between the cores of a block. Known, and refused: it cannot be compiled yet."""

def sync_wait(*args: Any, **options: Any) -> Any:
    """Synchronisation by hand between the cores of a block. Known, and refused: it cannot be compiled yet."""

def set_ffts(*args: Any, **options: Any) -> Any:
    """Synchronisation by hand between the cores of a block. Known, and refused: it cannot be compiled yet."""

def cacheinvalid(tensor: Any = ..., shapes: Any = ..., offsets: Any = ...) -> Any:
    """Write back and forget what the scalar unit's cache holds: all of it, or the line in which a window of a tensor begins."""

def MemRef(*args: Any, **options: Any) -> Any:
    """Nothing: the memory that a tile's type names."""

def fence(*args: Any, **options: Any) -> Any:
    """Nothing: accesses take effect one after another."""

def available_cluster_count() -> Any:
    """How many clusters the program runs on: the number of blocks of `pl.spmd`."""

def available_aiv_count() -> Any:
    """How many Vector cores the program runs on: the number of blocks of `pl.spmd`."""

def task_dummy(*args: Any, **options: Any) -> Any:
    """Ids of tasks. Known, and refused: it cannot be compiled yet."""

def task_invalid(*args: Any, **options: Any) -> Any:
    """Ids of tasks. Known, and refused: it cannot be compiled yet."""

def submit(*args: Any, **options: Any) -> Any:
    """Start a kernel. Known, and refused: it cannot be compiled yet."""

def spmd_submit(*args: Any, **options: Any) -> Any:
    """Start a kernel. Known, and refused: it cannot be compiled yet."""

def call_group(*args: Any, **options: Any) -> Any:
    """Start a kernel. Known, and refused: it cannot be compiled yet."""

def call_spmd(*args: Any, **options: Any) -> Any:
    """Start a kernel. Known, and refused: it cannot be compiled yet."""

Array: _Word
AsyncEvent: _Word
AsyncSession: _Word
CompactMode: _Word
DN: _Word
FP4: _Word
ForKind: _Word
HF4: _Word
INT4: _Word
IntLike: _Word
MemRefType: _Word
ND: _Word
NZ: _Word
PipeType: _Word
Ptr: _Word
PtrType: _Word
RUNTIME: _Word
ScopeMode: _Word
TASK_ID: _Word
TaskId: _Word
TensorView: _Word
TileView: _Word
Tuple: _Word
UINT4: _Word
array: _Word
manual_scope: _Word
prefetch: _Word
scope: _Word
