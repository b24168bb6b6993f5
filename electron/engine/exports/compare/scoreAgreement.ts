export interface ScoresCompared {
  compared: number;
  correlation: number | null;
  meanAbsoluteDifference: number;
  largestDifference: number;
}

/**
 * Pearson's correlation and differences of pairs, in one pass (Welford's method, so that large runs lose no
 * digits).
 */
export class ScoreAgreement {
  #n = 0;
  #meanX = 0;
  #meanY = 0;
  #xx = 0;
  #yy = 0;
  #xy = 0;
  #differences = 0;
  #largest = 0;

  add(x: number, y: number): void {
    this.#n += 1;
    const [dx, dy] = [x - this.#meanX, y - this.#meanY];
    this.#meanX += dx / this.#n;
    this.#meanY += dy / this.#n;
    this.#xx += dx * (x - this.#meanX);
    this.#yy += dy * (y - this.#meanY);
    this.#xy += dx * (y - this.#meanY);
    this.#differences += Math.abs(x - y);
    this.#largest = Math.max(this.#largest, Math.abs(x - y));
  }

  summary(): ScoresCompared | null {
    if (this.#n === 0) return null;
    const spread = Math.sqrt(this.#xx * this.#yy);
    return {
      compared: this.#n,
      correlation: spread === 0 ? null : this.#xy / spread,
      meanAbsoluteDifference: this.#differences / this.#n,
      largestDifference: this.#largest,
    };
  }
}
