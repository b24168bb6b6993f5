/** What an installer or a download said about the network, in words. */
import { appError, type AppError, type ErrorCode } from '../../../contract/errors.ts';

const SIGNS: readonly (readonly [code: ErrorCode, sign: RegExp, cause: string])[] = [
  [
    'network_certificate',
    /CERTIFICATE_VERIFY_FAILED|SSLError|SSLCertVerification|invalid peer certificate|UnknownIssuer|unable to (?:get|verify).{0,40}certificate|self.signed certificate/i,
    'The server shows a certificate that this computer does not trust, as in a network that inspects what passes through it.',
  ],
  [
    'network_proxy',
    /ProxyError|tunnel error|Cannot connect to proxy|Proxy Authentication Required|\b407\b/i,
    'The proxy that is set up for this computer does not answer, or does not let the download through.',
  ],
  [
    'network_blocked',
    /\b(?:401|403|451)\b.{0,40}(?:Client Error|Forbidden|Unauthorized|Unavailable)|status client error \((?:401|403|451)|\b50[234]\b.{0,40}(?:Server Error|Bad Gateway|Unavailable)/i,
    'The server, or something on the way to it, refuses the download.',
  ],
  [
    'network_unreachable',
    /name resolution|getaddrinfo|dns error|Name or service not known|NewConnectionError|ConnectTimeout|ConnectionError|Read timed out|operation timed out|client error \(Connect\)|error sending request|tcp connect error|Connection (?:refused|reset|aborted)|Network is unreachable|No route to host|network connectivity is disabled/i,
    'The server that has the Python packages cannot be reached.',
  ],
];

/** Null where the text is about something other than the network. */
export function networkError(text: string, detail: string): AppError | null {
  const found = SIGNS.find(([, sign]) => sign.test(text));
  if (found === undefined) return null;
  const [code, , cause] = found;
  return appError(code, cause, { detail });
}
