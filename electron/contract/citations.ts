/** What to cite with results, as CITATION.cff lists it; a test keeps the two equal. */
export const CITATIONS = [
  {
    subject: 'VirNucPro',
    authors: 'Li J, Mi J, Lin W, Tian F, Wan J, Gao J, Tong Y',
    year: 2025,
    title:
      'VirNucPro: an identifier for the identification of viral short sequences using six-frame translation and large language models',
    source: 'Briefings in Bioinformatics 26(3), bbaf224',
    id: '10.1093/bib/bbaf224',
    url: 'https://doi.org/10.1093/bib/bbaf224',
  },
  {
    subject: 'ESM-2',
    authors:
      'Lin Z, Akin H, Rao R, Hie B, Zhu Z, Lu W, Smetanin N, Verkuil R, Kabeli O, Shmueli Y, dos Santos Costa A, Fazel-Zarandi M, ' +
      'Sercu T, Candido S, Rives A',
    year: 2023,
    title: 'Evolutionary-scale prediction of atomic-level protein structure with a language model',
    source: 'Science 379(6637), 1123-1130',
    id: '10.1126/science.ade2574',
    url: 'https://doi.org/10.1126/science.ade2574',
  },
  {
    subject: 'DNABERT-S',
    authors: 'Zhou Z, Wu W, Ho H, Wang J, Shi L, Davuluri RV, Wang Z, Liu H',
    year: 2024,
    title: 'DNABERT-S: Pioneering Species Differentiation with Species-Aware DNA Embeddings',
    source: 'arXiv:2402.08777',
    id: 'arXiv:2402.08777',
    url: 'https://doi.org/10.48550/arXiv.2402.08777',
  },
] as const;
