// What a browser is told about every answer: not to guess its type, not to keep it, and not to show it inside other pages.

/** On every answer; pages replace some of them. */
export const answerHeaders = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

/** On the page, the documentation and their files, which hold no recorded text and load nothing from elsewhere. */
export const pageHeaders = {
  ...answerHeaders,
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-cache",
};
