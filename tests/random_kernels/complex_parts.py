"""Random statements about complex numbers, in a loop of their own at a kernel's end.

The kernel is given `zc`, which it reads, and `vc`, which it writes; expressions of real numbers are
those of the kernel's scope outside its loops.
"""

from __future__ import annotations

import random

from tests.random_kernels.cases import Argument
from tests.random_kernels.expressions import leaf, number
from tests.random_kernels.scopes import Scope

Block = list  # of lines (str) and of (header, Block)
SHARE = 0.15  # of the kernels
LENGTHS = (5, 3, 9, 12, 1, 0)
LITERALS = ("1j", "(0.1 - 0.3j)", "(2 + 0.5j)", "1e5j", "(-0.0 - 1j)", "2.5j", "(1e-7 + 3j)")
ONE = (
    "-({})", "np.conj({})", "({}).conjugate()", "({}) ** 2", "({}) ** 3", "({}) ** -1", "+({})",
    "np.square({})", "np.negative({})", "complex({})", "np.complex64({})",
)  # fmt: skip
TWO = ("({}) + ({})", "({}) - ({})", "({}) * ({})", "({}) / ({})", "({}) * ({})",
       "product({}, {})", "accumulate({}, {})", "np.multiply({}, {})")  # fmt: skip
ELEMENTARY = (
    "cmath.exp({})", "cmath.sqrt({})", "np.log({})", "cmath.sin({})", "np.cos({})",
    "cmath.tanh({})", "cmath.rect(abs({}), 0.5)", "({}) ** (0.5 + 1j)", "cmath.cosh({})",
    "np.sinh({})",
)  # fmt: skip
REALS = ("({}).real", "({}).imag", "np.real({})", "np.imag({})")
POLAR = (
    "abs({})", "np.abs({})", "cmath.phase({})", "np.angle({})", "cmath.polar({})[0]",
    "cmath.polar({})[1]",
)  # fmt: skip
"""Real numbers that elementary functions make."""
UPDATES = ("+", "-", "*", "/", "+")


def given_complex(rng: random.Random) -> list[Argument]:
    """The arguments of some kernels; none for the others."""
    if rng.random() > SHARE:
        return []
    shape, layouts = (rng.choice(LENGTHS),), ("plain", "plain", "strided", "reversed", "offset")
    return [
        Argument(name, "array", rng.choice(("complex128", "complex64")), shape, rng.choice(layouts))
        for name in ("zc", "vc")
    ]


class _Writer:
    """Writes expressions of complex numbers, each with at least one that is none else."""

    def __init__(self, scope: Scope, rng: random.Random, elementary: bool):
        self.scope, self.rng, self.elementary = scope, rng, elementary
        self.names: list[str] = []

    def leaf(self) -> str:
        """A complex number of an array, a variable or a literal, or one made of real ones."""
        kind = self.rng.random()
        if kind < 0.35 or not self.names and kind < 0.6:
            return self.rng.choice(("zc[i]", "zc[i]", "vc[i]", "zc[i - 1]", "zc[-1 - i]"))
        if kind < 0.6:
            return self.rng.choice(self.names)
        if kind < 0.8:
            return self.rng.choice(LITERALS)
        return f"complex({leaf(self.scope)}, {leaf(self.scope)})"

    def number(self, depth: int) -> str:
        """A complex expression."""
        kind = self.rng.random()
        if depth == 0 or kind < 0.15:
            return self.leaf()
        if self.elementary and kind < 0.3:
            return self.rng.choice(ELEMENTARY).format(self.number(depth - 1))
        if kind < 0.45:
            return self.rng.choice(ONE).format(self.number(depth - 1))
        operands = [self.number(depth - 1), self.number(depth - 1)]
        if self.rng.random() < 0.3:
            operands[self.rng.randrange(2)] = self.real(depth - 1)
        return self.rng.choice(TWO).format(*operands)

    def real(self, depth: int) -> str:
        """A real number or an integer beside complex ones."""
        if self.rng.random() < 0.4:
            forms = (*REALS, *POLAR) if self.elementary else REALS
            return self.rng.choice(forms).format(self.number(depth))
        return self.rng.choice((leaf(self.scope), "2.0", "3", "0.5", number(self.scope, 1)))

    def condition(self) -> str:
        """A comparison."""
        if self.rng.random() < 0.5:
            return f"{self.number(1)} {self.rng.choice(('==', '!='))} {self.leaf()}"
        return f"({self.number(1)}).real {self.rng.choice('<>')} {self.real(0)}"

    def statement(self, depth: int = 0) -> Block:
        """An assignment, an update or a store; or a branch with one."""
        kind = self.rng.random()
        if kind < 0.2 and depth < 2:
            return [(f"if {self.condition()}:", self.statement(depth + 1))]
        if kind < 0.5:
            name = self.rng.choice(("pc", "pt"))
            return [f"{name} {self.rng.choice(UPDATES)}= {self.number(2)}"]
        if kind < 0.7:
            return [f"vc[i] {self.rng.choice(UPDATES)}= {self.number(2)}"]
        return [f"{self.rng.choice(('vc[i]', 'pc', 'pt'))} = {self.number(3)}"]


def complex_loop(scope: Scope, rng: random.Random) -> Block:
    """A loop over the complex arrays, and perhaps a reduction of one, written into the other."""
    outside = scope.inner(rng=rng, indices=[])
    writer = _Writer(outside, rng, scope.elementary)
    start = rng.choice(("0.0", "0j", "0", "1.5"))  # what a variable is before it is complex
    body = [item for _ in range(rng.randint(1, 4)) for item in writer.statement()]
    writer.names += ["pc", "pt"]
    body += [item for _ in range(rng.randint(1, 2)) for item in writer.statement()]
    if scope.elementary:
        body.append(f"vc[i] -= cmath.exp({writer.leaf()})")
    body.append("vc[i] += pc")
    block: Block = [f"pt = {start}", ("for i in range(zc.size):", ["pc = zc[i]", *body])]
    if rng.random() < 0.3:
        form = rng.choice(("np.sum(zc)", "zc @ vc", "np.vdot(vc, zc)", "np.prod(zc)", "vc.sum()"))
        block.append(f"pt = pt - {form}")
    return [*block, ("if zc.size > 0:", ["vc[0] += pt"])]
