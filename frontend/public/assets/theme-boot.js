// Runs before the first paint, as a file of its own because the content policy allows no inline script: sets the
// colour scheme and the language of the document from what the reader chose last time.
(function () {
  var scheme = null;
  var language = null;
  try {
    scheme = localStorage.getItem('podium-scheme');
    language = localStorage.getItem('podium-language');
  } catch {
    // storage can be blocked; the system's preference is used then
  }
  var dark = scheme === 'dark' || (scheme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');
  if (language) document.documentElement.lang = language;
})();
