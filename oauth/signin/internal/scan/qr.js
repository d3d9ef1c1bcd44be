// Asks every two seconds how a sign-in by phone goes, says so, and collects it. Without
// this script the page has a button for it.
'use strict';
(() => {
  const form = document.getElementById('collect');
  const state = document.getElementById('state');
  const large = document.getElementById('number');
  const again = document.getElementById('again');
  const every = 2000;
  let timer = 0, asking = false, over = false;

  const say = (name, number) => {
    const text = (state.dataset[name] || '').replace('%s', number || '');
    if (state.textContent !== text) state.textContent = text; // screen readers read each change
    large.textContent = number || '';
    large.hidden = !number;
  };

  const end = (name) => {
    over = true;
    say(name);
    document.querySelector('.qr').classList.add('over');
    again.hidden = false;
  };

  const heard = ({ status, number }) => {
    switch (status) {
      case 'pending':
        return say(status);
      case 'scanned':
        return number ? say('number', number) : say(status);
      case 'confirmed':
        over = true;
        say(status);
        return form.submit();
      case 'rejected':
      case 'expired':
        return end(status);
    }
  };

  const ask = async () => {
    if (over || asking || document.hidden) return;
    asking = true;
    let wait = every;
    try {
      const answer = await fetch(form.dataset.poll, { cache: 'no-store', headers: { Accept: 'application/json' } });
      if (answer.ok) heard(await answer.json());
      else if (answer.status === 404) end('expired');
      else wait = Math.max(every, 1000 * Number(answer.headers.get('Retry-After')) || 0);
    } catch {
      // Away for a moment: asked again.
    }
    asking = false;
    clearTimeout(timer);
    if (!over) timer = setTimeout(ask, wait);
  };

  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    ask();
  });
  say('pending');
  ask();
})();
