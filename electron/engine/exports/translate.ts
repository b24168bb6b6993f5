const BASES = 'TCAG';
/** The standard genetic code in the order of the tables of NCBI: T, C, A, G at the first place, then the second, then the third. */
const AMINO_ACIDS = 'FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG';

const AMINO_ACID = new Map(
  Array.from(AMINO_ACIDS, (letter, i) => [
    BASES.charAt(i >> 4) + BASES.charAt((i >> 2) & 3) + BASES.charAt(i & 3),
    letter,
  ]),
);

/** As the method does it: a codon with a letter other than A, C, G or T adds nothing. `strand` is upper-case. */
export function translate(strand: string): string {
  let protein = '';
  for (let i = 0; i + 3 <= strand.length; i += 3) protein += AMINO_ACID.get(strand.slice(i, i + 3)) ?? '';
  return protein;
}

const COMPLEMENT: Readonly<Record<string, string>> = { A: 'T', C: 'G', G: 'C', T: 'A' };

/** Other letters than A, C, G and T keep their identity and only change place. */
export function reverseComplement(strand: string): string {
  let reverse = '';
  for (let i = strand.length - 1; i >= 0; i--) reverse += COMPLEMENT[strand[i]!] ?? strand[i]!;
  return reverse;
}
