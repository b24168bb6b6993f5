interface PrivateFacts {
  homeFolder: string;
  userName: string;
  hostName: string;
}

/** Shorter names would also be found inside ordinary words. */
const SHORTEST_NAME = 3;

/** Removes from a text what reveals the user's name or location. */
export function redact(text: string, { homeFolder, userName, hostName }: PrivateFacts): string {
  let redacted = text;
  const home = homeFolder.replace(/[\\/]+$/, '');
  if (home.length > 1) {
    for (const spelling of new Set([home, home.replaceAll('\\', '/'), home.replaceAll('\\', '\\\\')])) {
      redacted = redacted.replaceAll(spelling, '~');
    }
  }
  // Home folders of other accounts, such as a colleague's whose file was dropped.
  redacted = redacted.replaceAll(/(\/(?:home|Users)\/|[A-Za-z]:\\Users\\)[^/\\\s"']+/g, '$1<user>');
  redacted = withoutWord(redacted, userName, '<user>');
  return withoutWord(redacted, hostName, '<host>');
}

function withoutWord(text: string, word: string, instead: string): string {
  if (word.length < SHORTEST_NAME) return text;
  const literal = word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return text.replaceAll(new RegExp(`(?<![\\w-])${literal}(?![\\w-])`, 'gi'), instead);
}
