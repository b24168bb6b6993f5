import type { Token } from 'marked';
import type { Plugin } from 'vite';

/**
 * Compiles the guide's pages, Markdown written for readers of the repository, to modules: { title, html, parts }. Pictures become
 * files of the window, and each part gets an anchor: a chapter, or a paragraph that begins with its own title. Links among the
 * pages and to the web work in the window; any other link is replaced by its text.
 */
export function markdownPages(pages: readonly string[]): Plugin {
  return {
    name: 'markdown-pages',
    async transform(code, id) {
      if (!id.endsWith('.md')) return null;
      // Imported only here: most tests of the window need no page.
      const { Marked } = await import('marked');
      const pictures: string[] = [];
      const marked = new Marked({
        renderer: {
          image({ href, text }) {
            pictures.push(href);
            return `<img src="${MARK}${pictures.length - 1}${MARK}" alt="${escaped(text)}" loading="lazy">`;
          },
          link({ href, tokens }) {
            const words = this.parser.parseInline(tokens);
            if (href.startsWith('https://'))
              return `<a href="${escaped(href)}" target="_blank" rel="noreferrer">${words}</a>`;
            const page = href.replace(/^.*\/|\.md(#.*)?$/g, '');
            return pages.includes(page) ? `<a href="#/guide/${page}">${words}</a>` : words;
          },
        },
      });
      const [heading, ...rest] = marked.lexer(code);
      if (heading?.type !== 'heading') this.error(`${id} must begin with its title`);
      // The number of a picture stands between two marks.
      const parts: string[] = [];
      const html = rest.map((token) => {
        const part = titleOfPart(token);
        return (
          (part === null ? '' : `<a id="part-${parts.push(part) - 1}" tabindex="-1"></a>`) +
          marked.parser([token])
        );
      });
      const pieces = html
        .join('')
        .split(MARK)
        .map((part, index) => (index % 2 === 0 ? JSON.stringify(part) : `picture${part}`));
      return {
        code: [
          ...pictures.map((picture, index) => `import picture${index} from ${JSON.stringify(picture)};`),
          `export default { title: ${JSON.stringify((heading as { text: string }).text)}, html: ${pieces.join(' + ')}, parts: ${JSON.stringify(parts)} };`,
        ].join('\n'),
        map: null,
      };
    },
  };
}

function titleOfPart(token: Token): string | null {
  if (token.type === 'heading') return token['depth'] === 2 ? plain(String(token['text'])) : null;
  const first = token.type === 'paragraph' ? token.tokens?.[0] : undefined;
  return first?.type === 'strong' ? plain(String(first.text)) : null;
}

const plain = (text: string) => text.replaceAll(/[*`]|\.$/g, '');

/** A character that occurs in no text. */
const MARK = '\u0000';

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
