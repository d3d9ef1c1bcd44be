// Asks the browser to make a passkey, or to answer a challenge with one, and sends its answer with the
// page's form. Where the browser knows no passkeys, the form stays hidden.
'use strict';
(() => {
  const form = document.getElementById('passkey');
  if (!form || !window.PublicKeyCredential || !navigator.credentials) return;
  const state = form.querySelector('[role=status]');
  const making = 'make' in form.dataset;
  const field = form.elements.namedItem(making ? 'credential' : 'assertion');
  const fresh = 9 * 60 * 1000; // a challenge ends after ten minutes
  let waiting = null, timer = 0, busy = false;

  const bytes = text => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), c => c.charCodeAt(0));
  const text = buffer => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
  const ids = list => (list || []).map(c => ({...c, id: bytes(c.id)}));

  const begin = async () => {
    const answer = await fetch(form.dataset.begin, {method: 'POST', cache: 'no-store'});
    if (!answer.ok) throw new Error(String(answer.status));
    const options = await answer.json();
    options.challenge = bytes(options.challenge);
    if (!making) return {...options, allowCredentials: ids(options.allowCredentials)};
    options.user.id = bytes(options.user.id);
    return {...options, excludeCredentials: ids(options.excludeCredentials)};
  };

  const send = credential => {
    const from = credential.response, response = {clientDataJSON: text(from.clientDataJSON)};
    if (making) {
      response.attestationObject = text(from.attestationObject);
      if (from.getTransports) response.transports = from.getTransports();
    } else {
      response.authenticatorData = text(from.authenticatorData);
      response.signature = text(from.signature);
      if (from.userHandle) response.userHandle = text(from.userHandle);
    }
    field.value = JSON.stringify({id: credential.id, rawId: text(credential.rawId), type: credential.type, clientExtensionResults: {}, response});
    form.submit();
  };

  const stop = () => {
    clearTimeout(timer);
    if (waiting) waiting.abort();
    waiting = null;
  };

  // The browser's own list of passkeys, below the field of the username.
  const list = async () => {
    stop();
    const mine = waiting = new AbortController();
    try {
      const publicKey = await begin();
      if (mine.signal.aborted) return;
      timer = setTimeout(list, fresh);
      send(await navigator.credentials.get({publicKey, mediation: 'conditional', signal: mine.signal}));
    } catch {
      // Nothing was chosen, or the button was used.
    }
  };

  form.addEventListener('submit', async event => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    stop();
    state.textContent = '';
    try {
      const publicKey = await begin();
      send(await (making ? navigator.credentials.create({publicKey}) : navigator.credentials.get({publicKey})));
    } catch {
      state.textContent = state.dataset.failed;
      if ('list' in form.dataset) list();
    }
    busy = false;
  });

  form.hidden = false;
  const none = document.getElementById('no-passkeys');
  if (none) none.hidden = true;
  if ('now' in form.dataset) form.requestSubmit();
  else if ('list' in form.dataset && PublicKeyCredential.isConditionalMediationAvailable) {
    PublicKeyCredential.isConditionalMediationAvailable().then(can => { if (can) list(); }, () => {});
  }
})();
