import { z } from 'zod';
import { LIMITS } from './limits.ts';

/**
 * A search at NCBI, nucleotide against nucleotide or protein against protein. Without a query, only the
 * search page is opened.
 */
export const blastSearchSchema = z
  .object({
    program: z.enum(['blastn', 'blastp']),
    query: z
      .string()
      .max(LIMITS.url)
      .regex(/^[A-Za-z*-]*$/),
  })
  .refine((search) => blastAddress(search).length <= LIMITS.url, 'The sequence is too long for an address.');
export type BlastSearch = z.infer<typeof blastSearchSchema>;

/**
 * The address of the search page with the letters filled in. The search starts only when the user presses the
 * button there.
 */
export function blastAddress({ program, query }: { program: string; query: string }): string {
  const address = new URL('https://blast.ncbi.nlm.nih.gov/Blast.cgi');
  address.searchParams.set('PAGE_TYPE', 'BlastSearch');
  address.searchParams.set('PROGRAM', program);
  if (query !== '') address.searchParams.set('QUERY', query);
  return address.href;
}
