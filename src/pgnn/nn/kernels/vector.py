"""A vector of 128 bytes as a numba type: kernels keep rows of features in registers with it.

A `Vector` holds 32 float32 or 16 float64. Arrays are addressed by row and column without wraparound
or bounds checks; columns are contiguous, rows may be apart. What numba's compiler would have to
guess (that a loop over channels is one multiply-add) is said outright.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

VECTOR_BYTES = 128
_LINE_BYTES = 64
_I8, _I32, _I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)


class Vector(types.Type):  # type: ignore[misc]
    """Numba's name for a vector of floats."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        self.lanes = VECTOR_BYTES * 8 // dtype.bitwidth
        super().__init__(name=f"Vector({dtype})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        element = ir.FloatType() if fe_type.dtype == types.float32 else ir.DoubleType()
        super().__init__(dmm, fe_type, ir.VectorType(element, fe_type.lanes))


def _address(context: Any, builder: Any, array_type: Any, args: Any) -> Any:
    """Byte address of array[row, column]; an array of one dimension has one row."""
    value, row, column = args[:3]
    array = context.make_array(array_type)(context, builder, value)
    offset = builder.mul(column, ir.Constant(_I64, array_type.dtype.bitwidth // 8))
    if array_type.ndim > 1:
        offset = builder.add(builder.mul(row, builder.extract_value(array.strides, 0)), offset)
    return builder.gep(builder.bitcast(array.data, _I8.as_pointer()), [offset])


def _load(builder: Any, address: Any, vector_type: Any) -> Any:
    value = builder.load(builder.bitcast(address, vector_type.as_pointer()))
    value.align = 4  # rows of torch tensors start anywhere
    return value


@intrinsic
def load(_context: Any, array: Any, row: Any, column: Any) -> Any:
    """Return array[row, column : column + lanes]."""
    vector = Vector(array.dtype)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = _address(context, builder, signature.args[0], args)
        return _load(builder, address, context.get_value_type(vector))

    return vector(array, types.int64, types.int64), codegen


@intrinsic
def load_or_zeros(_context: Any, array: Any, row: Any, column: Any, zeros: Any) -> Any:
    """Return array[row, column : column + lanes], or the start of `zeros` if row < 0."""
    vector = Vector(array.dtype)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = _address(context, builder, signature.args[0], args)
        nothing = context.make_array(signature.args[3])(context, builder, args[3]).data
        absent = builder.icmp_signed("<", args[1], ir.Constant(_I64, 0))
        address = builder.select(absent, builder.bitcast(nothing, _I8.as_pointer()), address)
        return _load(builder, address, context.get_value_type(vector))

    return vector(array, types.int64, types.int64, zeros), codegen


@intrinsic
def store(_context: Any, array: Any, row: Any, column: Any, vector: Any) -> Any:
    """Set array[row, column : column + lanes]."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = _address(context, builder, signature.args[0], args)
        pointer = builder.bitcast(address, args[3].type.as_pointer())
        builder.store(args[3], pointer).align = 4
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64, vector), codegen


@intrinsic
def prefetch(_context: Any, array: Any, row: Any, column: Any) -> Any:
    """Ask for array[row, column : column + lanes] early; an address out of bounds does no harm."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = _address(context, builder, signature.args[0], args)
        kind = ir.FunctionType(ir.VoidType(), [_I8.as_pointer(), _I32, _I32, _I32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        read, keep, data = (ir.Constant(_I32, flag) for flag in (0, 3, 1))
        for line in range(0, VECTOR_BYTES, _LINE_BYTES):
            start = builder.gep(address, [ir.Constant(_I64, line)])
            builder.call(function, [start, read, keep, data])
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), codegen


@intrinsic
def at(_context: Any, array: Any, row: Any, column: Any) -> Any:
    """Return the number array[row, column]; integers come as int64."""
    is_float = isinstance(array.dtype, types.Float)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = _address(context, builder, signature.args[0], args)
        element = context.get_data_type(array.dtype)
        number = builder.load(builder.bitcast(address, element.as_pointer()))
        if is_float or array.dtype.bitwidth == 64:
            return number
        return builder.sext(number, _I64) if array.dtype.signed else builder.zext(number, _I64)

    result = array.dtype if is_float else types.int64
    return result(array, types.int64, types.int64), codegen


@intrinsic
def put(_context: Any, array: Any, row: Any, column: Any, number: Any) -> Any:
    """Set the number array[row, column]."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = _address(context, builder, signature.args[0], args)
        builder.store(args[3], builder.bitcast(address, args[3].type.as_pointer()))
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64, array.dtype), codegen


@intrinsic
def splat(_context: Any, number: Any) -> Any:
    """Return a vector with the same number in all lanes."""
    vector = Vector(number)

    def codegen(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        kind = context.get_value_type(vector)
        nothing = ir.Constant(kind, ir.Undefined)
        single = builder.insert_element(nothing, args[0], ir.Constant(_I32, 0))
        first = ir.Constant(ir.VectorType(_I32, kind.count), [0] * kind.count)
        return builder.shuffle_vector(single, nothing, first)

    return vector(number), codegen


@intrinsic
def add(_context: Any, a: Any, b: Any) -> Any:
    """Return a + b."""
    return a(a, b), lambda _context, builder, _signature, args: builder.fadd(*args)


@intrinsic
def multiply(_context: Any, a: Any, b: Any) -> Any:
    """Return a * b."""
    return a(a, b), lambda _context, builder, _signature, args: builder.fmul(*args)


@intrinsic
def multiply_add(_context: Any, a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c, rounded once where the processor can."""

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        kind = args[0].type
        name = f"llvm.fmuladd.v{kind.count}f{a.dtype.bitwidth}"
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(kind, [kind] * 3), name
        )
        return builder.call(function, args)

    return a(a, b, c), codegen


@intrinsic
def where_positive(_context: Any, condition: Any, a: Any) -> Any:
    """Return a where condition > 0, else 0; a condition that is not a number keeps a."""

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        zero = ir.Constant(args[0].type, [0.0] * args[0].type.count)
        return builder.select(builder.fcmp_unordered(">", args[0], zero), args[1], zero)

    return a(condition, a), codegen


@intrinsic
def total(_context: Any, a: Any) -> Any:
    """Return the sum of all lanes, halves first."""

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        vector = args[0]
        while (count := vector.type.count) > 1:
            nothing = ir.Constant(vector.type, ir.Undefined)
            lanes = ir.VectorType(_I32, count // 2)
            low = ir.Constant(lanes, list(range(count // 2)))
            high = ir.Constant(lanes, list(range(count // 2, count)))
            vector = builder.fadd(
                builder.shuffle_vector(vector, nothing, low),
                builder.shuffle_vector(vector, nothing, high),
            )
        return builder.extract_element(vector, ir.Constant(_I32, 0))

    return a.dtype(a), codegen


def gate(table: Any, codes: Any, row: int, i: int, first_code: int, column: int) -> Any:
    """Return the gate of (row, i): the table's entry of its code, or codes[row, i] if a float."""
    raise NotImplementedError("only kernels can call this")


@overload(gate, inline="always", strict=False)
def _gate(
    table: Any, codes: Any, row: Any, i: Any, first_code: Any, column: Any
) -> Callable[..., Any]:
    if isinstance(codes.dtype, types.Float):
        return lambda table, codes, row, i, first_code, column: splat(at(codes, row, i))
    if table.ndim == 1:
        return lambda table, codes, row, i, first_code, column: splat(
            at(table, 0, at(codes, row, i) - first_code)
        )
    return lambda table, codes, row, i, first_code, column: load(
        table, at(codes, row, i) - first_code, column
    )


def add_to_gate(
    grad: Any, codes: Any, row: int, i: int, first_code: int, column: int, a: Any, b: Any
) -> None:
    """Add a * b to the gradient of the gate of (row, i): to its code's row, or to grad[row, i]."""
    raise NotImplementedError("only kernels can call this")


@overload(add_to_gate, inline="always", strict=False)
def _add_to_gate(
    grad: Any, codes: Any, row: Any, i: Any, first_code: Any, column: Any, a: Any, b: Any
) -> Callable[..., Any]:
    def to_pair(
        grad: Any, codes: Any, row: Any, i: Any, first_code: Any, column: Any, a: Any, b: Any
    ) -> None:
        put(grad, row, i, at(grad, row, i) + total(multiply(a, b)))

    def to_code(
        grad: Any, codes: Any, row: Any, i: Any, first_code: Any, column: Any, a: Any, b: Any
    ) -> None:
        code = at(codes, row, i) - first_code
        store(grad, code, column, multiply_add(a, b, load(grad, code, column)))

    return to_pair if isinstance(codes.dtype, types.Float) else to_code
