/** Deeds under the same name are done one after the other, in the order asked for; others don't wait for them. */
export class KeyedMutex {
  private readonly last = new Map<string, Promise<unknown>>();

  async take<Answer>(name: string, task: () => Promise<Answer>): Promise<Answer> {
    const before = this.last.get(name) ?? Promise.resolve();
    const turn = before.then(task, task);
    this.last.set(name, turn);
    try {
      return await turn;
    } finally {
      if (this.last.get(name) === turn) this.last.delete(name);
    }
  }
}
