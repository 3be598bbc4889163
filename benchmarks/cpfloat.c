/* CPFloat's rounding of binary32 arrays as one function, for `python -m benchmarks precision`:
 *
 *     git clone https://github.com/north-numerical-computing/cpfloat
 *     gcc -O3 -march=native -shared -fPIC -I cpfloat/src benchmarks/cpfloat.c -o libcpfloat.so -lm
 *     CPFLOAT_LIBRARY=./libcpfloat.so python -m benchmarks precision
 *
 * To nearest, ties to even, subnormals kept, one thread (without -fopenmp). It takes CPFloat 0.6.0 or
 * newer; that the compiler warns of its random numbers does no harm: none are drawn.
 */
#include "cpfloat_binary32.h"

int sciprec_round(float *out, const float *x, size_t size, unsigned bits, int emin, int emax)
{
    optstruct *options = init_optstruct();
    options->precision = bits;
    options->emin = emin;
    options->emax = emax;
    options->explim = CPFLOAT_EXPRANGE_TARG;
    options->infinity = CPFLOAT_INF_USE;
    options->round = CPFLOAT_RND_NE;
    options->saturation = CPFLOAT_SAT_NO;
    options->subnormal = CPFLOAT_SUBN_USE;
    options->flip = CPFLOAT_SOFTERR_NO;
    options->p = 0.0;
    int status = cpf_fproundf(out, x, size, options);
    free_optstruct(options);
    return status;
}
