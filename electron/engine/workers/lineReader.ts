import { StringDecoder } from 'node:string_decoder';

/** Cuts a stream of bytes into lines, holding at most one line of a bounded length. */
export class LineReader {
  private readonly longest: number;
  private readonly onLine: (line: string) => void;
  private readonly onOverlong: () => void;
  private readonly decoder = new StringDecoder('utf8');
  private pieces: string[] = [];
  private length = 0;
  private skipping = false;

  /** `onOverlong` is called once for a line of more than `longest` characters, of which the beginning is handed on. */
  constructor(longest: number, onLine: (line: string) => void, onOverlong: () => void = () => undefined) {
    this.longest = longest;
    this.onLine = onLine;
    this.onOverlong = onOverlong;
  }

  add(bytes: Buffer): void {
    const text = this.decoder.write(bytes);
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      this.keep(text.slice(from, end));
      this.finishLine();
      from = end + 1;
    }
    this.keep(text.slice(from));
  }

  /** The stream has ended: what stands behind the last line end is a line too. */
  end(): void {
    this.keep(this.decoder.end());
    if (this.length > 0) this.finishLine();
  }

  private keep(text: string): void {
    if (this.skipping || text === '') return;
    const room = this.longest - this.length;
    this.pieces.push(text.length > room ? text.slice(0, room) : text);
    this.length += Math.min(text.length, room);
    if (text.length <= room) return;
    this.skipping = true;
    this.onOverlong();
  }

  private finishLine(): void {
    const line = this.pieces.join('');
    this.pieces = [];
    this.length = 0;
    this.skipping = false;
    this.onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
  }
}
