// Adds a button to each field of a password that shows what is typed. Without this script there is none.
'use strict';
(() => {
  const label = document.currentScript.dataset.label;
  const drawn = (parent, name, attributes) => {
    const element = parent.appendChild(document.createElementNS('http://www.w3.org/2000/svg', name));
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };

  for (const field of document.querySelectorAll('.secret input')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.title = label;
    button.setAttribute('aria-label', label);
    button.setAttribute('aria-controls', field.id);
    const eye = drawn(button, 'svg', { viewBox: '0 0 20 20', 'aria-hidden': 'true', focusable: 'false' });
    drawn(eye, 'path', { d: 'M1.8 10S4.8 4.8 10 4.8 18.2 10 18.2 10 15.2 15.2 10 15.2 1.8 10 1.8 10z' });
    drawn(eye, 'circle', { cx: '10', cy: '10', r: '2.4' });
    drawn(eye, 'path', { class: 'strike', d: 'M3.5 16.5l13-13' });

    const show = (on) => {
      field.type = on ? 'text' : 'password';
      button.setAttribute('aria-pressed', String(on));
    };
    button.addEventListener('click', () => show(field.type === 'password'));
    // What leaves the page, or is kept for the way back, is a password again.
    field.form.addEventListener('submit', () => show(false));
    window.addEventListener('pagehide', () => show(false));
    show(false);
    field.after(button);
  }
})();
