/**
 * What is computed of a sequence, and what is missing. A chunk's weight is the number of bases that no
 * earlier chunk covers.
 */
export interface PartlyScored {
  /** Sums over the scored chunks: of weights, of their squares, and of weights times scores. */
  weight: number;
  squaredWeight: number;
  weightedScore: number;
  /** Bases of chunks that may still get a score, and the largest possible number of these chunks. */
  missingWeight: number;
  missingChunks: number;
}

/** A call that changes with a lower probability than this is settled. */
export const TURN_LIMIT = 0.01;
/** The mean score from which a sequence is called virus. */
const VIRUS_FROM = 0.5;
/** Jeffreys' prior: both calls are equally likely, and most sequences are almost entirely of one kind. */
const PRIOR = 0.5;

/**
 * Whether the call from the scored chunks is final: the missing ones can't change it, or would with a
 * probability below 1 %. Scores count like draws of virus or not with one unknown probability for the whole
 * sequence, known from the n = (sum w)^2 / sum w^2 scored chunks as Beta(n m + 1/2, n (1 - m) + 1/2), where m
 * is their mean. The mean of the missing ones then follows a beta-binomial distribution, which is
 * approximated by the beta distribution of equal mean and variance; the call changes if it lies beyond the
 * value that brings the whole mean to 0.5.
 */
export function isSettled(chunks: PartlyScored): boolean {
  return turnChance(chunks) < TURN_LIMIT;
}

/** The probability that the call changes; 1 if nothing is scored yet. */
export function turnChance(chunks: PartlyScored): number {
  const { weight, squaredWeight, weightedScore, missingWeight, missingChunks } = chunks;
  if (missingWeight <= 0 || missingChunks <= 0) return 0;
  if (weight <= 0) return 1;
  const mean = weightedScore / weight;
  const isVirus = mean >= VIRUS_FROM;
  // The mean of the missing chunks at which that of the whole sequence is 0.5.
  const turning = (VIRUS_FROM * (weight + missingWeight) - weightedScore) / missingWeight;
  if (isVirus ? turning <= 0 : turning > 1) return 0;
  const scored = weight ** 2 / squaredWeight;
  const [a, b] = [scored * mean + PRIOR, scored * (1 - mean) + PRIOR];
  // Beta-binomial: the virus share of this many draws has the variance of a single draw multiplied by this.
  const factor = (1 + (missingChunks - 1) / (a + b + 1)) / missingChunks;
  const expected = a / (a + b);
  if (factor >= 1) return isVirus ? 1 - expected : expected;
  const draws = 1 / factor - 1;
  const below = betaBelow(Math.min(1, Math.max(0, turning)), draws * expected, draws * (1 - expected));
  return isVirus ? below : 1 - below;
}

/**
 * P(X < x) for a beta-distributed X: the regularised incomplete beta function, computed by its continued
 * fraction.
 */
export function betaBelow(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges fast only on this side of the mean.
  if (x > (a + 1) / (a + b + 2)) return 1 - betaBelow(1 - x, b, a);
  const front = Math.exp(
    logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x) - Math.log(a),
  );
  const tiny = 1e-300;
  const away = (value: number): number => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / away(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m <= 300; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    for (const term of [even, odd]) {
      d = 1 / away(1 + term * d);
      c = away(1 + term / c);
      fraction *= d * c;
    }
    if (Math.abs(d * c - 1) < 1e-12) break;
  }
  return front * fraction;
}

/** Stirling's series, for arguments raised above 8. */
function logGamma(value: number): number {
  let x = value;
  let product = 1;
  for (; x < 8; x++) product *= x;
  const series = 1 / (12 * x) - 1 / (360 * x ** 3) + 1 / (1260 * x ** 5) - 1 / (1680 * x ** 7);
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series - Math.log(product);
}
