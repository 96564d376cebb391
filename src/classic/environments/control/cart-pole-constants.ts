export const limit = 2.4
/** 12 degrees, computed as the reference does. */
export const angleLimit = (12 * 2 * Math.PI) / 360
export const tau = 0.02

/** Angles up to which the polynomials below are as good as the sine and cosine of any platform, rad. */
export const reach = 0.29

/**
 * Of fdlibm (Sun Microsystems 1993), as most platforms have them, so that results are the reference's to the last bit: from x^3 on
 * in odd powers, and from x^4 on in even ones.
 */
export const sinTerms = [
  -1.66666666666666324348e-1, 8.33333333332248946124e-3, -1.98412698298579493134e-4,
  2.75573137070700676789e-6, -2.50507602534068634195e-8, 1.58969099521155010221e-10,
] as const
export const cosTerms = [
  4.16666666666666019037e-2, -1.38888888888741095749e-3, 2.48015872894767294178e-5,
  -2.75573143513906633035e-7, 2.0875723212981748279e-9, -1.13596475577881948265e-11,
] as const
const [s1, s2, s3, s4, s5, s6] = sinTerms
const [c1, c2, c3, c4, c5, c6] = cosTerms

/** The sine of an angle within reach out of the angle and its square. */
export const sineOf = (x: number, z: number): number =>
  x + z * x * (s1 + z * (s2 + z * (s3 + z * (s4 + z * (s5 + z * s6)))))

/** The cosine out of the square. */
export const cosineOf = (z: number): number =>
  1 - (0.5 * z - z * (z * (c1 + z * (c2 + z * (c3 + z * (c4 + z * (c5 + z * c6)))))))
