/* global document, fetch, setTimeout, window, location, isSecureContext */
/* What a page can do and see, told by its title: it has no other way out that does not need the engine. */
(async () => {
  const refused = [];
  document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) =>
    refused.push(effectiveDirective),
  );
  const inline = document.createElement('script');
  inline.textContent = 'window.inlineRan = true';
  document.head.append(inline);
  await fetch('https://example.org/').catch(() => undefined);
  let evaluated = false;
  try {
    evaluated = eval('true');
  } catch {
    // As the policy wants.
  }
  const connected = await window.virnucpro.connect().then(
    () => true,
    (reason) => String(reason),
  );
  // They are told a moment later.
  await new Promise((resolve) => setTimeout(resolve, 500));
  document.title = JSON.stringify({
    bridge: Object.keys(window.virnucpro).sort(),
    origin: location.origin,
    secure: isSecureContext,
    node: [typeof require, typeof process, typeof module],
    inlineRan: window.inlineRan === true,
    evaluated,
    connected,
    refused: [...new Set(refused)].sort(),
  });
})();
