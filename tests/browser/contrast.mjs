// Contrast of text by WCAG 2.2, success criterion 1.4.3.

/**
 * Runs in the page: shows what is hidden, too, and answers `{text, ratio}` for every element that has
 * text of its own. Backgrounds are those of the closest ancestor that has an opaque one.
 */
export function contrasts() {
  for (const element of document.querySelectorAll('[hidden]')) {
    element.hidden = false;
    element.textContent ||= `a text for ${element.id}`;
  }
  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = (color) => {
    const [red, green, blue] = channels(color).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const background = (element) => {
    const color = getComputedStyle(element).backgroundColor;
    const [, , , alpha = 1] = channels(color);
    return alpha === 1 ? color : background(element.parentElement);
  };
  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  return [...document.body.querySelectorAll('*:not(script)')].filter(hasText).map((element) => {
    const pair = [luminance(getComputedStyle(element).color), luminance(background(element))];
    return { text: element.textContent, ratio: (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05) };
  });
}
