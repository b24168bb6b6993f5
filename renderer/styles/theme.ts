import { createTheme, type MantineColorsTuple } from '@mantine/core';

/** Deep teal: calm on white and on near-black, and distinguishable from the orange of viral calls with every kind of colour vision deficiency. */
const teal: MantineColorsTuple = [
  '#e9f6fa',
  '#d3eaf2',
  '#a5d4e4',
  '#74bdd6',
  '#4ea9ca',
  '#2f95bb',
  '#1f7fa5',
  '#14678a',
  '#0f5472',
  '#0a4259',
];

const dark: MantineColorsTuple = [
  '#dfe4e9',
  '#b9c2cb',
  '#98a4af',
  '#6b7884',
  '#46515b',
  '#343d46',
  '#262d35',
  '#1c2229',
  '#151a20',
  '#0f1318',
];

export const theme = createTheme({
  fontFamily: "'Inter Variable', system-ui, -apple-system, 'Segoe UI', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Mono', 'DejaVu Sans Mono', monospace",
  colors: { teal, dark },
  primaryColor: 'teal',
  primaryShade: { light: 7, dark: 6 },
  autoContrast: false,
  defaultRadius: 'md',
  respectReducedMotion: true,
  cursorType: 'pointer',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
  lineHeights: { xs: '1.5', sm: '1.5', md: '1.5', lg: '1.5', xl: '1.5' },
  radius: { xs: '3px', sm: '5px', md: '8px', lg: '12px', xl: '16px' },
  headings: {
    fontWeight: '650',
    sizes: {
      h1: { fontSize: '1.5rem', lineHeight: '1.25' },
      h2: { fontSize: '1.0625rem', lineHeight: '1.35' },
      h3: { fontSize: '0.9375rem', lineHeight: '1.4' },
    },
  },
  components: {
    Button: { defaultProps: { size: 'sm' } },
    Modal: { defaultProps: { centered: true, overlayProps: { backgroundOpacity: 0.45 } } },
    Tooltip: { defaultProps: { withArrow: true, multiline: true, maw: 320, openDelay: 300 } },
    Menu: { defaultProps: { shadow: 'md', width: 280, withInitialFocusPlaceholder: false } },
    TextInput: { defaultProps: { size: 'sm' } },
    Select: { defaultProps: { size: 'sm', allowDeselect: false } },
  },
});

/** The look of a button that removes something. */
export const DESTRUCTIVE = { color: 'red.8' } as const;
