/** Preloaded into Node with `?after=SECONDS&days=DAYS`: from that age of the process on, its clock is so many days ahead or behind. */
const { searchParams } = new URL(import.meta.url);
const afterMs = Number(searchParams.get('after')) * 1000;
const jumpMs = Number(searchParams.get('days')) * 86_400_000;
const RealDate = Date;
const now = (): number => RealDate.now() + (process.uptime() * 1000 > afterMs ? jumpMs : 0);

globalThis.Date = new Proxy(RealDate, {
  construct: (_, values: unknown[]): object =>
    values.length === 0 ? new RealDate(now()) : (Reflect.construct(RealDate, values) as Date),
  get: (target, name): unknown => (name === 'now' ? now : Reflect.get(target, name)),
});
