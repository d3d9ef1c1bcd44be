// Sends the form that was kept. Coming back to the page sends nothing: a form is sent once.
'use strict';
(() => {
  const [visit] = performance.getEntriesByType('navigation');
  if (!visit || visit.type !== 'back_forward') document.getElementById('on').requestSubmit();
})();
