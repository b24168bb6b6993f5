/** Who wants to be told of something. */
export class Listeners<Values extends readonly unknown[]> {
  private readonly all = new Set<(...values: Values) => void>();

  /** Answers with what ends it. */
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
