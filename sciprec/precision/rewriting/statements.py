"""Rewriting of statements: assignments, loops, branches and comprehensions."""

from __future__ import annotations

import ast
import copy

import numba

from sciprec.precision.rewriting import contractions, symbols
from sciprec.precision.rewriting.own_names import as_written
from sciprec.precision.rewriting.syntax import (
    Rewriting,
    assign,
    children,
    name,
    nodes,
    static_value,
    stored_names,
)

_COMPILING = ("njit", "jit", "vectorize", "guvectorize")
_OF_ARRAYS = ("shape", "size", "ndim", "strides", "dtype", "T", "flat")


def assignment(rewriter: Rewriting, node):
    """An assignment to names, elements or several of them."""
    value = _value(rewriter, node)
    if _begins_a_count(rewriter, node):
        value = ast.Call(ast.Attribute(name("np"), "int64", ast.Load()), [value], [])
    if len(node.targets) > 1:
        temporary = rewriter.fresh("value")
        out = [assign(temporary, value)]
        for target in node.targets:
            out += _assigned(rewriter, target, name(temporary), node)
        return out
    return _assigned(rewriter, node.targets[0], value, node)


def _value(rewriter: Rewriting, node) -> ast.expr:
    """Rewrite the value that an assignment stores."""
    contraction = rewriter.contractions.get(node)
    if contraction is None:
        return rewriter.visit(node.value)
    return contractions.summed(rewriter, rewriter.visit(contraction.base), contraction)


def _begins_a_count(rewriter: Rewriting, node: ast.Assign) -> bool:
    """Whether a literal is where a loop begins to count what it gives to kernels: Numba would
    compile these for the literal first, and then again for integers.
    """
    target, value = node.targets[0], node.value
    is_integer = isinstance(value, ast.Constant) and type(value.value) is int
    counts = isinstance(target, ast.Name) and target.id in rewriter.counts
    return is_integer and counts and abs(value.value) < 2**63


def counts(tree: ast.FunctionDef) -> frozenset[str]:
    """Names that a loop, or one inside it, assigns and gives to a call. None of them is an index:
    that of a tuple of several types has to be a literal.
    """
    names: set[str] = set()
    for loop in _loops(tree):
        inside = nodes(loop)
        arguments = {a.id for n in inside if isinstance(n, ast.Call) for a in n.args
                 if isinstance(a, ast.Name)}  # fmt: skip
        names |= arguments & {
            n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
    if names:
        indices = [node.slice for node in nodes(tree) if isinstance(node, ast.Subscript)]
        names -= {i.id for i in indices if isinstance(i, ast.Name)}
    return frozenset(names)


def _loops(node: ast.AST) -> list[ast.AST]:
    """The loops of a block that are in no other loop."""
    if isinstance(node, (ast.For, ast.While)):
        return [node]
    if isinstance(node, ast.expr):
        return []
    return [loop for child in children(node) for loop in _loops(child)]


def annotated_assignment(rewriter: Rewriting, node):
    """An assignment with an annotation, which is dropped."""
    if node.value is None:
        return ast.Pass()
    return _assigned(rewriter, node.target, _value(rewriter, node), node)


def _assigned(rewriter: Rewriting, target, value: ast.expr, node) -> list[ast.stmt]:
    """target = value, with values stored into arrays rounded to the storage format."""
    if isinstance(target, ast.Name):
        return [ast.Assign([target], value)]
    if isinstance(target, ast.Subscript):
        container, index = rewriter.container(target)
        stored = _stored(rewriter, target, container, value)
        return [ast.Assign([ast.Subscript(container, index, ast.Store())], stored)]
    if _is_field(rewriter, target):
        put = rewriter.op("put", target, _field(rewriter, target), value)
        return [ast.Assign([_field(rewriter, target, ast.Store())], put)]
    if isinstance(target, (ast.Tuple, ast.List)):
        out: list[ast.stmt] = []
        source = _named(rewriter, value, out)
        temporaries = [rewriter.fresh("item") for _ in target.elts]
        unpacked = ast.Tuple([ast.Name(t, ast.Store()) for t in temporaries], ast.Store())
        out.append(ast.Assign([unpacked], source))
        for item, temporary in zip(target.elts, temporaries, strict=True):
            out += _assigned(rewriter, item, rewriter.taken(target, source, name(temporary)), node)
        return out
    rewriter.refuse(node, f"assignment to '{ast.unparse(target)}'", "write into an array element")


def _is_field(rewriter: Rewriting, target) -> bool:
    """Whether a target is `object.field`, of an object that the kernel was given."""
    is_attribute = isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)
    return is_attribute and target.value.id in rewriter.local and target.attr not in _OF_ARRAYS


def _field(rewriter: Rewriting, target: ast.Attribute, how: ast.expr_context | None = None):
    """The field, to be read or written, neither rounded."""
    return ast.Attribute(rewriter.visit(target.value), target.attr, how or ast.Load())


def _named(rewriter: Rewriting, value: ast.expr, before: list[ast.stmt]) -> ast.expr:
    """A container whose items will be taken, by a name where its type will be asked for."""
    if not rewriter.program.backend.mixed or isinstance(value, ast.Name):
        return value
    temporary = rewriter.fresh("whole")
    before.append(assign(temporary, value))
    return name(temporary)


def _stored(
    rewriter: Rewriting, target: ast.Subscript, container: ast.expr, value: ast.expr
) -> ast.Call:
    """Rewrite a value stored into an element: rounded to the storage format. In fixed point the
    result of an operation is formed in the array's unit.
    """
    array = ast.unparse(target.value)
    first = _row_of_result(rewriter, value)
    if first is not None:
        rewriter.program.frame(rewriter.frame_name).regroup(first, as_written(array))
        return rewriter.op("stored", target, container, value, array=array)
    return rewriter.op("leave", target, container, value, array=array)


def _row_of_result(rewriter: Rewriting, value: ast.expr) -> int | None:
    """The first row of an operation on numbers, if that is what makes a value."""
    if not rewriter.program.grouped or not isinstance(value, ast.Call):
        return None
    operation = rewriter.program.operation_behind(getattr(value.func, "id", ""))
    return value.args[1].value if operation.method and len(value.args) > 2 else None


def update(rewriter: Rewriting, node):
    """An augmented assignment: the operation on the old value, stored where that was."""
    is_field = _is_field(rewriter, node.target)
    if not is_field and not isinstance(node.target, (ast.Name, ast.Subscript)):
        rewriter.refuse(node, f"'{ast.unparse(node)}'", "write into a name or an array element")
    if isinstance(node.op, symbols.INTEGER_OPERATORS):
        target = node.target
        if isinstance(target, ast.Subscript):
            target = ast.Subscript(*rewriter.container(target), ast.Store())
        return ast.AugAssign(target, node.op, rewriter.visit(node.value))
    if isinstance(node.op, ast.MatMult):
        rewriter.refuse(node, "the operator @=", "write x = x @ y")
    operation = symbols.BINARY_OPERATORS[type(node.op)].name
    exponent = rewriter.literal_integer(node.value) if isinstance(node.op, ast.Pow) else None
    if exponent is not None and abs(exponent) <= 64:
        operation = f"power_of({exponent})"
    contraction = rewriter.contractions.get(node)
    value = rewriter.visit(node.value) if contraction is None else None
    if isinstance(node.target, ast.Name):
        total = name(node.target.id)
        if contraction is not None:
            updated = contractions.summed(rewriter, total, contraction, in_place=True)
        else:
            updated = rewriter.op(f"i{operation}", node, total, value)
        return ast.Assign([node.target], updated)
    if is_field:
        field = rewriter.op("enter", node, _field(rewriter, node.target))
        updated = rewriter.op(f"i{operation}", node, field, value)
        return _assigned(rewriter, node.target, updated, node)
    out: list[ast.stmt] = []
    container, index = (_once(rewriter, part, out) for part in rewriter.container(node.target))
    read = ast.Subscript(container, index, ast.Load())
    total = rewriter.loaded(node, read, node.target.value)
    if contraction is not None:
        updated = contractions.summed(rewriter, total, contraction)
    else:
        updated = rewriter.op(operation, node, total, value)
    stored = _stored(rewriter, node.target, container, updated)
    out.append(ast.Assign([ast.Subscript(container, index, ast.Store())], stored))
    return out


def _once(rewriter: Rewriting, part: ast.expr, before: list[ast.stmt]) -> ast.expr:
    """An array or an index that is read and then written: its calls are made once, in
    statements before.
    """
    if not any(isinstance(n, ast.Call) for n in nodes(part)):
        return part
    if isinstance(part, ast.Subscript):
        return ast.Subscript(
            _once(rewriter, part.value, before), _once(rewriter, part.slice, before), ast.Load()
        )
    if isinstance(part, ast.Tuple):
        return ast.Tuple([_once(rewriter, item, before) for item in part.elts], ast.Load())
    if isinstance(part, ast.Slice):
        ends = (part.lower, part.upper, part.step)
        return ast.Slice(*(end and _once(rewriter, end, before) for end in ends))
    temporary = rewriter.fresh("index")
    before.append(assign(temporary, part))
    return name(temporary)


def deletion(rewriter: Rewriting, node):
    """`del items[i]`, of a list; Numba has no other."""
    if not all(isinstance(target, ast.Subscript) for target in node.targets):
        rewriter.refuse(node, f"'{ast.unparse(node)}'", "leave it out: Numba frees memory itself")
    items = [ast.Subscript(*rewriter.container(target), ast.Del()) for target in node.targets]
    return ast.Delete(items)


# ---- loops ---------------------------------------------------------------------------------


def loop(rewriter: Rewriting, node: ast.For | ast.While) -> list[ast.stmt]:
    """A loop, numbered in the order of rewriting; a chunk has the number of its loop."""
    program, rewrite = rewriter.program, _for if isinstance(node, ast.For) else _while
    around = program.around if rewriter.parallel and not rewriter.loops else rewriter.loops
    rewriter.loops = (*around, program.loops)
    if rewriter.is_parallel(node):
        program.around = around
    else:
        program.loops += 1
    result, rewriter.loops = rewrite(rewriter, node), around
    return result


def _for(rewriter: Rewriting, node) -> list[ast.stmt]:
    """A loop over a range or an array."""
    if not isinstance(node.target, (ast.Name, ast.Tuple)):
        rewriter.refuse(node, f"the loop variable '{ast.unparse(node.target)}'", "give it a name")
    called = node.iter.func if isinstance(node.iter, ast.Call) else None
    function = rewriter.value_of(called) if called else None
    if rewriter.is_parallel(node):
        return rewriter.program.parallel_loop(rewriter, node)
    ranged = function in (range, numba.prange)
    if ranged:
        arguments = [rewriter.visit(a) for a in node.iter.args]
        iterated: ast.expr = ast.Call(name("range"), arguments, [])
    else:
        iterated = rewriter.visit(node.iter)
    before, prologue, outer = _loop_key(rewriter, node, ranged)
    if not ranged:
        iterated = _named(rewriter, iterated, before)
        for target in sorted(stored_names([ast.Expr(node.target)])):
            prologue.append(assign(target, rewriter.taken(node, iterated, name(target))))
    loop = ast.For(node.target, iterated, prologue, [])
    return [*before, _finished(rewriter, node, loop, outer)]


def named_range(rewriter: Rewriting, statements: list[ast.stmt]) -> str:
    """Give the range of a rewritten loop, the last of the statements, a name before the loop, so
    that its length can be asked for; "" where the loop goes over no range.
    """
    loop = statements[-1]
    if not (isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call)
            and isinstance(loop.iter.func, ast.Name) and loop.iter.func.id == "range"):
        return ""  # fmt: skip
    ranged = rewriter.fresh("range")
    statements.insert(-1, assign(ranged, loop.iter))
    loop.iter = name(ranged)
    return ranged


def _finished(rewriter: Rewriting, node, loop: ast.For | ast.While, outer: str):
    """A loop that so far has the beginning of its body, with the rewritten body, what hooks put
    into it, and the rewritten `else`, where the key is `outer` again.
    """
    for hooks in rewriter.hooks:
        loop.body += hooks.begun(rewriter, node)
    loop.body += rewriter.statements(node.body)
    rewriter.key = outer
    loop.orelse = rewriter.statements(node.orelse)
    for hooks in rewriter.hooks:
        hooks.loop(rewriter, node, loop)
    return loop


def is_parallel(rewriter: Rewriting, node) -> bool:
    """Whether a loop is one over `prange` that becomes parallel."""
    called = node.iter.func if isinstance(getattr(node, "iter", None), ast.Call) else None
    if called is None or rewriter.parallel or rewriter.serial:
        return False
    return rewriter.value_of(called) is numba.prange


def is_serial(tree: ast.FunctionDef, namespace) -> bool:
    """Whether a decorator of Numba's above a function says that `prange` is `range` in it: all do,
    but those with `parallel=True`.
    """
    for decorator in tree.decorator_list:
        called = isinstance(decorator, ast.Call)
        function = static_value(decorator.func if called else decorator, namespace, set())
        if any(function is getattr(numba, compiling) for compiling in _COMPILING):
            options = decorator.keywords if called else []
            return not any(_may_be_parallel(option, namespace) for option in options)
    return False


def _may_be_parallel(option: ast.keyword, namespace) -> bool:
    """Whether an option of a decorator is not known to leave threads out."""
    if option.arg not in ("parallel", None):
        return False
    if isinstance(option.value, ast.Constant):
        return bool(option.value.value)
    value = static_value(option.value, namespace, set())
    return bool(value.get("parallel") if isinstance(value, dict) else value)


def _while(rewriter: Rewriting, node) -> list[ast.stmt]:
    """A loop with a condition."""
    before, prologue, outer = _loop_key(rewriter, node, False)
    test = rewriter.visit(node.test)
    if prologue:  # the test draws its random bits anew in each iteration
        leave = ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], [])
        prologue, test = [*prologue, leave], ast.Constant(True)
        if node.orelse:
            rewriter.refuse(node, "while ... else in a stochastic arithmetic", "use a flag")
    return [*before, _finished(rewriter, node, ast.While(test, prologue, []), outer)]


def _loop_key(
    rewriter: Rewriting, node, ranged: bool
) -> tuple[list[ast.stmt], list[ast.stmt], str]:
    """Statements before the loop and at the start of its body that give each iteration its
    key.
    """
    outer = rewriter.key
    if not rewriter.program.random:
        return [], [], outer
    site = rewriter.add_site(node, "loop")
    inner = rewriter.fresh("key")
    if ranged and isinstance(node.target, ast.Name):
        step = assign(inner, rewriter.descended(rewriter.at_site(site), name(node.target.id)))
        rewriter.key = inner
        return [], [step], outer
    counter = rewriter.fresh("count")
    more = ast.BinOp(name(counter), ast.Add(), ast.Constant(1))
    prologue = [
        assign(counter, more),
        assign(inner, rewriter.descended(rewriter.at_site(site), name(counter))),
    ]
    rewriter.key = inner
    return [assign(counter, ast.Constant(0))], prologue, outer


def comprehension(rewriter: Rewriting, node):
    """A list made by a loop inside an expression."""
    inner = copy.copy(rewriter)
    inner.local = rewriter.local | stored_names([ast.Expr(g.target) for g in node.generators])
    generators = [g for clause in node.generators for g in _clauses(inner, clause)]
    result = ast.ListComp(inner.visit(node.elt), generators)
    rewriter.counter = inner.counter
    return result


def _iterated_again(rewriter: Rewriting, clause: ast.comprehension, iterated: ast.expr) -> ast.expr:
    """Write once more what a comprehension runs over, for its type: no name can stand there."""
    if not rewriter.program.backend.mixed:
        return iterated
    visited = iterated.args[-1] if isinstance(iterated, ast.Call) else iterated
    called = [n.func for n in nodes(visited) if isinstance(n, ast.Call)]
    if not all(isinstance(f, ast.Name) and f.id in ("zip", "enumerate") for f in called):
        rewriter.refuse(
            clause.iter, f"a comprehension over '{ast.unparse(clause.iter)}' in roles of several "
            "formats", "assign it to a name first",
        )  # fmt: skip
    return visited


def _clauses(rewriter: Rewriting, clause: ast.comprehension) -> list[ast.comprehension]:
    """One `for` of a comprehension, followed by `for x in (value,)` for what an ordinary loop
    assigns at the start of its body: the iteration's key, and the elements, rounded.
    """
    target, iterated = clause.target, rewriter.seen(clause.iter)
    function = clause.iter.func if isinstance(clause.iter, ast.Call) else None
    ranged = function and rewriter.value_of(function) is range
    bindings, container = [], clause.iter if ranged else _iterated_again(rewriter, clause, iterated)
    if rewriter.program.random:
        site = rewriter.add_site(target, "loop")
        counter, key = rewriter.fresh("count"), rewriter.fresh("key")
        bindings.append((key, rewriter.descended(rewriter.at_site(site), name(counter))))
        target = ast.Tuple([ast.Name(counter, ast.Store()), target], ast.Store())
        iterated, rewriter.key = ast.Call(name("enumerate"), [iterated], []), key
    for element in [] if ranged else sorted(stored_names([ast.Expr(clause.target)])):
        bindings.append((element, rewriter.taken(clause.target, container, name(element))))
    out = [ast.comprehension(target, iterated, [], 0)]
    for identifier, value in bindings:
        once = ast.Tuple([value], ast.Load())
        out.append(ast.comprehension(ast.Name(identifier, ast.Store()), once, [], 0))
    out[-1].ifs = [rewriter.visit(condition) for condition in clause.ifs]
    return out
