// A browser without JavaScript: it fills the sign-in form and follows redirects until the
// application's own address comes up, and returns that.
export async function visit(authorizationURL, { username, password }) {
  const page = await fetch(authorizationURL, { redirect: 'manual' })
  if (page.status !== 200) throw new Error(`authorize = ${page.status}, want the sign-in page`)
  const query = /name="query" value="([^"]*)"/.exec(await page.text())[1]
  const origin = new URL(authorizationURL).origin
  const signedIn = await fetch(origin + '/oauth/signin', {
    method: 'POST',
    redirect: 'manual',
    headers: { origin },
    body: new URLSearchParams({ username, password, query: unescape(query) }),
  })
  if (signedIn.status !== 303) throw new Error(`sign-in = ${signedIn.status}, want 303`)
  const cookie = signedIn.headers.get('set-cookie').split(';')[0]
  const back = await fetch(new URL(signedIn.headers.get('location'), origin), { redirect: 'manual', headers: { cookie } })
  if (back.status !== 302) throw new Error(`authorize with a session = ${back.status}, want 302`)
  return new URL(back.headers.get('location'))
}

function unescape(html) {
  return html.replace(/&(amp|#34|#39|#43|lt|gt);/g, (e) => ({ '&amp;': '&', '&#34;': '"', '&#39;': "'", '&#43;': '+', '&lt;': '<', '&gt;': '>' })[e])
}

export function want(what, got, wanted) {
  if (got !== wanted) throw new Error(`${what} = ${got}, want ${wanted}`)
  console.log(`ok: ${what} = ${got}`)
}
