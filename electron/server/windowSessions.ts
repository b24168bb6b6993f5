import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../contract/parseJson.ts';

const SECRET_BYTES = 32;
const KEPT_MS = 7 * 24 * 60 * 60_000;

/** When each browser was last seen, by the digest of its cookie. */
const sessionsSchema = z.record(z.string(), z.number());

/**
 * Decides who may call the engine: a token from the printed address gives one browser a cookie, once. The
 * digests of the cookies are kept for a week, so that a window finds its engine again after a restart.
 */
export class WindowSessions {
  private readonly cookieName: string;
  private readonly file: string;
  /** Whether browsers connect through an encrypting proxy. */
  private readonly secure: boolean;
  private readonly sessions: Map<string, number>;
  /** Digests that are valid only while this server runs, and are not stored. */
  private readonly unsaved = new Set<string>();
  private token = newSecret();

  /** Browsers don't tell cookies of different ports of a computer apart, so the port is part of the name. */
  constructor(port: number, file: string, secure = false) {
    this.cookieName = `virnucpro-${port}`;
    this.file = file;
    this.secure = secure;
    this.sessions = readSessions(file);
  }

  /** The token that the next browser may use. */
  get currentToken(): string {
    return this.token;
  }

  /** Uses up the token; returns the cookie to set, or undefined if the token isn't the current one. */
  enter(token: string): string | undefined {
    if (!sameSecret(token, this.token)) return undefined;
    this.token = newSecret();
    const session = newSecret();
    this.sessions.set(digest(session), Date.now());
    this.save();
    return `${this.cookieName}=${session}; Path=/; HttpOnly; SameSite=Strict${this.secure ? '; Secure' : ''}`;
  }

  /** A cookie for a client that is already known, valid while this server runs. */
  letIn(): string {
    const session = newSecret();
    this.unsaved.add(digest(session));
    return `${this.cookieName}=${session}`;
  }

  knows(cookieHeader: string | undefined): boolean {
    const cookies = (cookieHeader ?? '').split(';').map((pair) => pair.trim());
    return cookies.some(
      (pair) =>
        pair.startsWith(`${this.cookieName}=`) &&
        this.isKnown(digest(pair.slice(this.cookieName.length + 1))),
    );
  }

  private isKnown(session: string): boolean {
    if (this.unsaved.has(session)) return true;
    const since = this.sessions.get(session);
    if (since === undefined || Date.now() - since >= KEPT_MS) return false;
    this.sessions.set(session, Date.now());
    return true;
  }

  private save(): void {
    try {
      mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
      writeFileSync(this.file, JSON.stringify(Object.fromEntries(this.sessions)), { mode: 0o600 });
    } catch {
      // If it can't be stored, today's windows need the printed address again after a restart.
    }
  }
}

function readSessions(file: string): Map<string, number> {
  try {
    const stored = parseJson(sessionsSchema, readFileSync(file, 'utf8'));
    return new Map(Object.entries(stored ?? {}).filter(([, since]) => Date.now() - since < KEPT_MS));
  } catch {
    return new Map();
  }
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** Secrets are looked up by digest, so that the time of a look-up reveals nothing about them. */
function digest(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(digest(a)), Buffer.from(digest(b)));
}
