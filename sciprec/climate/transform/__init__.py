"""Between spherical-harmonic coefficients and fields on the Gaussian grid."""
