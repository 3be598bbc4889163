"""np.linalg as kernels: `solve`, `inv`, `det`, `cholesky`, `qr` and `norm` of a lifted kernel.

They are the textbooks' algorithms, without blocks, in a fixed order of operations, lifted together
with the kernel that calls them. a - b c is a + (-b) c, the product in the matmul role, the sum in
the accumulate role (`reduce`); quotients and roots are those of the compute role, and it is them
that a sign is changed of. Sums over a row stay in its array. A NaN or an infinity goes where the
operations carry it.

Source: Higham (2002), Accuracy and Stability of Numerical Algorithms, 2nd ed.; Golub & Van Loan
    (2013), Matrix Computations, 4th ed.
"""

from __future__ import annotations

import math

import numpy as np

from sciprec.precision.elementary.bits import ufp
from sciprec.precision.library.construction import eye
from sciprec.precision.operations.reduce import accumulate, largest, product, smallest, total

# ---- norms -------------------------------------------------------------------------------------


def norm(x):
    """np.linalg.norm(x): the root of the sum of squares of a vector, or of a matrix (Frobenius).

    The elements are divided by a power of two first, the unit in the first place of the largest:
    the bits are those of sqrt(np.dot(x, x)), but that squares neither overflow nor underflow where
    they matter. A scaled sum is below 4 times the number of elements.
    """
    flat = x.ravel()
    size = largest_size(flat)
    if size == 0.0 or not math.isfinite(size):
        return size
    unit, squares = ufp(size), 0.0
    for i in range(flat.size):
        scaled = flat[i] / unit
        squares = accumulate(squares, product(scaled, scaled))
    return np.sqrt(squares) * unit


def largest_size(flat):
    """The largest |x_i|, x_i real (np.fabs says so): 0 of nothing, NaN where any element is."""
    size = 0.0
    for x in flat:
        size = np.maximum(size, np.fabs(x))
    return size


def _sizes(flat):
    out = np.empty(flat.size)
    for i in range(flat.size):
        out[i] = abs(flat[i])
    return out


def _sums_of_rows(a):
    out = np.empty(a.shape[0])
    for i in range(a.shape[0]):
        out[i] = total(_sizes(a[i]))
    return out


def norm_1(x):
    """np.linalg.norm(x, 1): the pairwise sum of sizes, of a matrix the largest one of a column."""
    if x.ndim == 1:
        return total(_sizes(x))
    return largest(_sums_of_rows(x.T))


def norm_inf(x):
    """np.linalg.norm(x, np.inf): the largest size, of a matrix the largest sum of a row's sizes."""
    if x.ndim == 1:
        return largest(_sizes(x))
    return largest(_sums_of_rows(x))


def norm_minus_1(x):
    """np.linalg.norm(x, -1): of a matrix the smallest sum of a column's sizes."""
    if x.ndim == 1:
        return norm_p(x, -1)
    return smallest(_sums_of_rows(x.T))


def norm_minus_inf(x):
    """np.linalg.norm(x, -np.inf): the smallest size, or the smallest sum of a row's sizes."""
    if x.ndim == 1:
        return smallest(_sizes(x))
    return smallest(_sums_of_rows(x))


def norm_0(x):
    """np.linalg.norm(x, 0): how many elements are not zero."""
    _vector(x)
    count = 0
    for i in range(x.size):
        if x[i] != 0.0:
            count += 1
    return float(count)


def norm_2(x):
    """np.linalg.norm(x, 2) of a vector."""
    _vector(x)
    return norm(x)


def norm_fro(x):
    """np.linalg.norm(x, "fro") of a matrix."""
    if len(x.shape) != 2:
        raise ValueError("np.linalg.norm(x, 'fro') was given a vector; it takes a matrix: leave"
                         " out 'fro'")  # fmt: skip
    return norm(x)


def norm_p(x, p):
    """np.linalg.norm(x, p) of a vector: the pairwise sum of |x_i|^p to the power 1 / p."""
    _vector(x)
    powers = np.empty(x.size)
    for i in range(x.size):
        powers[i] = abs(x[i]) ** p
    return total(powers) ** (1.0 / p)


def _vector(x):
    if x.ndim != 1:
        raise ValueError("np.linalg.norm of a matrix was given an ord for vectors; of a matrix it"
                         " takes none, 'fro', 1, -1, np.inf and -np.inf")  # fmt: skip


NORMS = {
    None: norm, "fro": norm_fro, 0: norm_0, 1: norm_1, 2: norm_2, -1: norm_minus_1,
    math.inf: norm_inf, -math.inf: norm_minus_inf,
}  # fmt: skip
"""The order of a norm -> its kernel; other numbers are `norm_p`'s."""


# ---- elimination -------------------------------------------------------------------------------


def _copied(a):
    out = np.empty(a.shape)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j]
    return out


def factors_of_lu(a):
    """P A = L U by Gaussian elimination with partial pivoting, row by row; of pivots alike in size
    the first.

    Returns L below the diagonal and U, the rows of A in their order, and how many were exchanged.

    Source: Golub & Van Loan (2013), algorithm 3.4.1; errors: Higham (2002), theorem 9.3.
    """
    n = a.shape[0]
    lu, order, exchanges = _copied(a), np.arange(n), 0
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(lu[i, k]) > abs(lu[pivot, k]):
                pivot = i
        if pivot != k:
            exchanges += 1
            order[k], order[pivot] = order[pivot], order[k]
            for j in range(n):
                upper, lower = lu[k, j], lu[pivot, j]
                lu[k, j] = lower
                lu[pivot, j] = upper
        if lu[k, k] != 0.0:
            for i in range(k + 1, n):
                lu[i, k] = lu[i, k] / lu[k, k]
                multiplier = lu[i, k]
                for j in range(k + 1, n):
                    lu[i, j] = accumulate(lu[i, j], product(-multiplier, lu[k, j]))
    return lu, order, exchanges


def _is_singular(lu):
    for k in range(lu.shape[0]):
        if lu[k, k] == 0.0:
            return True
    return False


def solution(lu, order, b):
    """X of A X = B from the factors of A: forward, then back substitution.

    Source: Higham (2002), algorithm 8.1; errors: theorem 9.4.
    """
    n, columns = b.shape
    x = np.empty((n, columns))
    for i in range(n):
        for j in range(columns):
            x[i, j] = b[order[i], j]
        for k in range(i):
            for j in range(columns):
                x[i, j] = accumulate(x[i, j], product(-lu[i, k], x[k, j]))
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            for j in range(columns):
                x[i, j] = accumulate(x[i, j], product(lu[i, k], -x[k, j]))
        for j in range(columns):
            x[i, j] = x[i, j] / lu[i, i]
    return x


def solve(a, b):
    """np.linalg.solve(a, b) of a square matrix and one or several right-hand sides: elimination
    with partial pivoting, and two substitutions.
    """
    matrix = np.atleast_2d(a)
    if len(a.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise np.linalg.LinAlgError("np.linalg.solve was given an array that is no square matrix;"
                                    " it takes as many rows as columns")  # fmt: skip
    if matrix.shape[0] != b.shape[0]:
        raise ValueError("np.linalg.solve was given a right-hand side of another number of rows"
                         " than the matrix; it takes as many")  # fmt: skip
    lu, order, _ = factors_of_lu(matrix)
    if _is_singular(lu):
        raise np.linalg.LinAlgError("np.linalg.solve was given a singular matrix: a pivot is zero;"
                                    " it takes one whose pivots are not")  # fmt: skip
    if b.ndim == 1:
        return solution(lu, order, np.expand_dims(b, 1)).ravel()
    return solution(lu, order, b)


def inv(a):
    """np.linalg.inv(a): the solution of A X = I, column by column of I.

    Source: Higham (2002), section 14.3, method A.
    """
    matrix = np.atleast_2d(a)
    if len(a.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise np.linalg.LinAlgError("np.linalg.inv was given an array that is no square matrix; it"
                                    " takes as many rows as columns")  # fmt: skip
    lu, order, _ = factors_of_lu(matrix)
    if _is_singular(lu):
        raise np.linalg.LinAlgError("np.linalg.inv was given a singular matrix: a pivot is zero;"
                                    " it takes one whose pivots are not")  # fmt: skip
    return solution(lu, order, eye(matrix.shape[0]))


def det(a):
    """np.linalg.det(a): the product of the pivots from the first to the last, and the sign of
    their order; zero where a pivot is.
    """
    matrix = np.atleast_2d(a)
    if len(a.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise np.linalg.LinAlgError("np.linalg.det was given an array that is no square matrix; it"
                                    " takes as many rows as columns")  # fmt: skip
    lu, _, exchanges = factors_of_lu(matrix)
    if _is_singular(lu):
        return 0.0
    result = 1.0
    for k in range(lu.shape[0]):
        result = result * lu[k, k]
    return -result if exchanges % 2 == 1 else result


# ---- Cholesky ----------------------------------------------------------------------------------


def cholesky(a):
    """np.linalg.cholesky(a): lower triangular L with A = L L^T, from the lower triangle of A.

    Source: Golub & Van Loan (2013), algorithm 4.2.2, by outer products; errors: Higham (2002),
        theorem 10.3.
    """
    matrix = np.atleast_2d(a)
    n = matrix.shape[0]
    if len(a.shape) != 2 or n != matrix.shape[1]:
        raise np.linalg.LinAlgError("np.linalg.cholesky was given an array that is no square"
                                    " matrix; it takes as many rows as columns")  # fmt: skip
    lower, column = np.zeros((n, n)), np.empty(n)
    for i in range(n):
        for j in range(i + 1):
            lower[i, j] = matrix[i, j]
    for k in range(n):
        if not lower[k, k] > 0.0:
            raise np.linalg.LinAlgError("np.linalg.cholesky was given a matrix that is not positive"
                                        " definite: a pivot is not above zero")  # fmt: skip
        lower[k, k] = np.sqrt(lower[k, k])
        for i in range(k + 1, n):
            lower[i, k] = lower[i, k] / lower[k, k]
            column[i] = lower[i, k]
        for i in range(k + 1, n):
            for j in range(k + 1, i + 1):
                lower[i, j] = accumulate(lower[i, j], product(-column[i], column[j]))
    return lower


# ---- Householder -------------------------------------------------------------------------------


def qr(a):
    """np.linalg.qr(a), reduced: Q (m, k) with orthonormal columns and upper triangular R (k, n),
    k = min(m, n), by Householder's reflections.

    As in LAPACK, r_jj has the sign that cancels nothing, and a column that is zero below its
    diagonal is left as it is; each is scaled by a power of two first, as in `norm`.

    Source: Golub & Van Loan (2013), algorithms 5.1.1, 5.2.1 and section 5.1.6 (Q from the last
        reflection to the first); errors: Higham (2002), theorem 19.4.
    """
    matrix = np.atleast_2d(a)
    if len(a.shape) != 2:
        raise np.linalg.LinAlgError("np.linalg.qr was given an array that is no matrix; it takes"
                                    " one with two axes")  # fmt: skip
    m, n = matrix.shape
    count = min(m, n)
    work, vectors, weights = _copied(matrix), np.zeros((m, count)), np.zeros(count)
    for j in range(count):
        weights[j] = _reflection(work, j, vectors)
        _reflect(work, j, j + 1, vectors, weights[j])
    r, q = np.zeros((count, n)), np.zeros((m, count))
    for i in range(count):
        q[i, i] = 1.0
        for j in range(i, n):
            r[i, j] = work[i, j]
    for j in range(count - 1, -1, -1):
        _reflect(q, j, j, vectors, weights[j])
    return q, r


def _reflection(a, j, vectors):
    """Column j of A from its diagonal on becomes (beta, 0, ...) by H = I - tau v v^T, v_j = 1:
    tau is returned, v goes to column j of `vectors`.
    """
    m = a.shape[0]
    below = 0.0
    for i in range(j + 1, m):
        below = np.maximum(below, abs(a[i, j]))
    vectors[j, j] = 1.0
    if below == 0.0:
        return 0.0
    unit, squares = ufp(np.maximum(below, abs(a[j, j]))), 0.0
    for i in range(j, m):
        vectors[i, j] = a[i, j] / unit
        scaled = vectors[i, j]
        squares = accumulate(squares, product(scaled, scaled))
    first = vectors[j, j]
    beta = -math.copysign(np.sqrt(squares), first)
    for i in range(j + 1, m):
        vectors[i, j] = vectors[i, j] / (first - beta)
    vectors[j, j] = 1.0
    a[j, j] = beta * unit
    return (beta - first) / beta


def _reflect(a, j, start, vectors, weight):
    """A becomes A - v (tau v^T A) in rows from j and columns from `start` on."""
    if weight != 0.0:
        m, n = a.shape
        sums = np.zeros(n)
        for i in range(j, m):
            for c in range(start, n):
                sums[c] = accumulate(sums[c], product(vectors[i, j], a[i, c]))
        for c in range(start, n):
            sums[c] = weight * sums[c]
        for i in range(j, m):
            for c in range(start, n):
                a[i, c] = accumulate(a[i, c], product(-vectors[i, j], sums[c]))
