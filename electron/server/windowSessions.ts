import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET_BYTES = 32;

/** Who may talk to the engine: a token from the printed address buys one browser a cookie, once. */
export class WindowSessions {
  private readonly cookieName: string;
  private readonly sessions = new Set<string>();
  private token = newSecret();

  /** Browsers don't tell cookies of different ports of a computer apart, so the port is part of the name. */
  constructor(port: number) {
    this.cookieName = `virnucpro-${port}`;
  }

  /** The token that the next browser may use. */
  get currentToken(): string {
    return this.token;
  }

  /** Takes the token; answers with the cookie to set, or nothing where the token isn't the current one. */
  enter(token: string): string | undefined {
    if (!sameSecret(token, this.token)) return undefined;
    this.token = newSecret();
    const session = newSecret();
    this.sessions.add(digest(session));
    return `${this.cookieName}=${session}; Path=/; HttpOnly; SameSite=Strict`;
  }

  knows(cookieHeader: string | undefined): boolean {
    const cookies = (cookieHeader ?? '').split(';').map((pair) => pair.trim());
    return cookies.some(
      (pair) =>
        pair.startsWith(`${this.cookieName}=`) &&
        this.sessions.has(digest(pair.slice(this.cookieName.length + 1))),
    );
  }
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** Looked up by digest, so that the time a look-up takes tells nothing of the secret. */
function digest(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(digest(a)), Buffer.from(digest(b)));
}
