// Runs before the first paint, so that a dark window never flashes white. A file of its own, since the
// content security policy allows no inline script.
(function () {
  var stored = null;
  try {
    stored = localStorage.getItem('virnucpro.theme');
  } catch {
    // Storage may be switched off; the system's choice is used then.
  }
  var dark = stored === 'dark' || (stored !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');
})();
