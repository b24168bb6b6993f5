/** Listeners to be called on a change. */
export class Listeners<Values extends readonly unknown[]> {
  private readonly all = new Set<(...values: Values) => void>();

  /** Adds a listener and returns a function that removes it. */
  add(listener: (...values: Values) => void): () => void {
    this.all.add(listener);
    return () => {
      this.all.delete(listener);
    };
  }

  tell(...values: Values): void {
    for (const listener of this.all) listener(...values);
  }
}
