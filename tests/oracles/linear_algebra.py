"""Linear algebra with every operation rounded, from the textbooks' other forms.

Where the engine eliminates row by row, these take inner products: Doolittle's factorisation and
Cholesky's by rows, and Householder's reflections column by column. Each element goes through the
same operations, in one arithmetic or in one for each role. Matrices are lists of rows of floats.

Source: Higham (2002), sections 9.2, 10.1 and 19.1; Golub & Van Loan (2013), section 3.2.9.
"""

from __future__ import annotations

import math

from tests.oracles import exact


class Singular(Exception):
    """A pivot is zero, or, of Cholesky's, not above zero."""


class Rounded:
    """The operations of a backend on floats.

    Args:
        backend: any object with the arithmetics `storage`, `compute`, `accumulate` and `matmul`.
    """

    def __init__(self, backend):
        self.compute, self.sums = backend.compute, backend.accumulate
        self.products, self.storage = backend.matmul, backend.storage

    def kept(self, x: float) -> float:
        """A number in an array."""
        return exact.round_exact(x, self.storage)

    def quotient(self, x: float, y: float) -> float:
        """x / y, put into an array."""
        return self.kept(exact.div(x, y, self.compute))

    def size(self, x: float) -> float:
        """|x|, an operation."""
        return exact.round_exact(abs(x), self.compute)

    def largest(self, numbers: list[float]) -> float:
        """The largest |x|, 0 of nothing, NaN where one is."""
        sizes = [self.size(x) for x in numbers]
        return math.nan if any(map(math.isnan, sizes)) else max(sizes, default=0.0)

    def entered(self, a) -> list:
        """A matrix or vector, its elements rounded."""
        if a.ndim == 1:
            return [self.kept(float(x)) for x in a]
        return [self.entered(row) for row in a]

    def less(self, start: float, pairs) -> float:
        """start + (-x1) y1 + (-x2) y2 + ..., from the first pair to the last, in an array."""
        for x, y in pairs:
            start = self.kept(exact.add(start, exact.mul(-x, y, self.products), self.sums))
        return start

    def dot(self, pairs, kept=lambda x: x) -> float:
        """x1 y1 + x2 y2 + ..., from the first pair to the last."""
        result = 0.0
        for x, y in pairs:
            result = kept(exact.add(result, exact.mul(x, y, self.products), self.sums))
        return result

    def lu(self, a: list) -> tuple[list, list, int]:
        """Doolittle with partial pivoting, column by column: L and U in one, the order of rows, and
        the sign of that order.
        """
        n = len(a)
        rows, order, sign = [list(row) for row in a], list(range(n)), 1
        for j in range(n):
            for i in range(n):
                left = zip(
                    rows[i][: min(i, j)], [rows[k][j] for k in range(min(i, j))], strict=True
                )
                rows[i][j] = self.less(rows[i][j], left)
            chosen = j
            for i in range(j + 1, n):
                if self.size(rows[i][j]) > self.size(rows[chosen][j]):
                    chosen = i
            if chosen != j:
                sign = -sign
                rows[j], rows[chosen] = rows[chosen], rows[j]
                order[j], order[chosen] = order[chosen], order[j]
            if rows[j][j] == 0.0:
                raise Singular
            for i in range(j + 1, n):
                rows[i][j] = self.quotient(rows[i][j], rows[j][j])
        return rows, order, sign

    def solve(self, a: list, b: list) -> list[float]:
        """x of A x = b for one right-hand side."""
        rows, order, _ = self.lu(a)
        x: list[float] = []
        for i, row in enumerate(rows):
            x.append(self.less(b[order[i]], zip(row, x, strict=False)))
        for i in reversed(range(len(x))):
            rest = self.less(x[i], zip(rows[i][i + 1 :], x[i + 1 :], strict=True))
            x[i] = self.quotient(rest, rows[i][i])
        return x

    def inv(self, a: list) -> list:
        """The columns of the inverse, each solved for."""
        n = len(a)
        units = [[float(i == j) for i in range(n)] for j in range(n)]
        columns = [self.solve(a, unit) for unit in units]
        return [list(row) for row in zip(*columns, strict=True)]

    def det(self, a: list) -> float:
        """The signed product of pivots."""
        try:
            rows, _, sign = self.lu(a)
        except Singular:
            return 0.0
        result = 1.0
        for k, row in enumerate(rows):
            result = exact.mul(result, row[k], self.compute)
        return sign * result

    def cholesky(self, a: list) -> list:
        """L row by row, from the lower triangle."""
        n = len(a)
        rows: list[list[float]] = []
        for i in range(n):
            row: list[float] = []
            for j in range(i + 1):
                other = rows[j] if j < i else row
                rest = self.less(a[i][j], zip(row[:j], other[:j], strict=True))
                if j < i:
                    row.append(self.quotient(rest, rows[j][j]))
                elif rest > 0.0:
                    row.append(self.kept(exact.sqrt(rest, self.compute)))
                else:
                    raise Singular
            rows.append(row)
        return [row + [0.0] * (n - len(row)) for row in rows]

    def reflection(self, column: list[float]) -> tuple[list[float], float, float]:
        """v with v_1 = 1, tau and beta of H = I - tau v v^T that leaves (beta, 0, ...)."""
        if all(self.size(x) == 0.0 for x in column[1:]):
            return [1.0] + [0.0] * (len(column) - 1), 0.0, column[0]
        unit = first_place(self.largest(column))
        scaled = [self.quotient(x, unit) for x in column]
        size = exact.sqrt(self.dot(zip(scaled, scaled, strict=True)), self.compute)
        beta = -math.copysign(size, scaled[0])
        below = exact.sub(scaled[0], beta, self.compute)
        v = [1.0] + [self.quotient(x, below) for x in scaled[1:]]
        tau = self.quotient(exact.sub(beta, scaled[0], self.compute), beta)
        return v, tau, self.kept(exact.mul(beta, unit, self.compute))

    def reflected(self, column: list[float], v: list[float], tau: float) -> list[float]:
        """H times a column."""
        if tau == 0.0:
            return column
        along = self.dot(zip(v, column, strict=True), self.kept)
        weight = self.kept(exact.mul(tau, along, self.compute))
        return [self.less(x, [(y, weight)]) for x, y in zip(column, v, strict=True)]

    def qr(self, a: list) -> tuple[list, list]:
        """Q and R, reduced, column by column."""
        m, n = len(a), len(a[0]) if a else 0
        found: list[tuple[list[float], float]] = []
        r: list[list[float]] = []
        for c in range(n):
            column = [row[c] for row in a]
            for j, (v, tau) in enumerate(found):
                column[j:] = self.reflected(column[j:], v, tau)
            if c < m:
                v, tau, column[c] = self.reflection(column[c:])
                found.append((v, tau))
            r.append([x if i <= c else 0.0 for i, x in enumerate(column[: min(m, n)])])
        q = []
        for c in range(min(m, n)):
            column = [float(i == c) for i in range(m)]
            for j in reversed(range(c + 1)):
                v, tau = found[j]
                column[j:] = self.reflected(column[j:], v, tau)
            q.append(column)
        return [list(x) for x in zip(*q, strict=True)], [list(x) for x in zip(*r, strict=True)]

    def norm(self, x: list[float]) -> float:
        """The root of the sum of squares, scaled by a power of two."""
        size = self.largest(x)
        if size == 0.0 or not math.isfinite(size):
            return size
        unit = first_place(size)
        scaled = [exact.div(v, unit, self.compute) for v in x]
        root = exact.sqrt(self.dot(zip(scaled, scaled, strict=True)), self.compute)
        return exact.mul(root, unit, self.compute)


def first_place(x: float) -> float:
    """The largest power of two not above x > 0; an infinity or NaN itself."""
    if not math.isfinite(x):
        return x
    return math.ldexp(1.0, math.frexp(x)[1] - 1)
