package page

// factorTexts are those of the pages of second factors.
var factorTexts = map[string]string{
	// Second factors.
	"Two-step sign-in": "两步验证",
	"After your password, or however you sign in, a second factor proves that it is you.": "在密码或其他登录方式之后，再用第二步验证确认是您本人。",
	"A second factor is required of you. You can sign in without one until %s.":           "您需要开启两步验证。在 %s 之前仍可不经两步验证登录。",
	"Authenticator app":            "身份验证器应用",
	"Set up":                       "已设置",
	"Remove the authenticator app": "移除身份验证器应用",
	"Remove":                       "移除",
	"Set it up on another phone":   "换到另一部手机",
	"An app on your phone shows a new code every 30 seconds, without a network.": "手机上的应用每 30 秒显示一个新的验证码，无需联网。",
	"It is not offered to you here.":                                             "此处未向您开放该功能。",
	"Set up an authenticator app":                                                "设置身份验证器应用",
	"Passkeys":                                                                   "通行密钥",
	"You have %s.":                                                               "您有 %s 个。",
	"Recovery codes":                                                             "恢复码",
	"If your phone is lost, a recovery code takes its place, once.":          "手机丢失时，可用恢复码代替，每个只能用一次。",
	"Only %s are left. Make new ones before you need them.":                  "仅剩 %s 个。请提前生成新的恢复码。",
	"You have none. Make some now: without them a lost phone locks you out.": "您没有恢复码。请立即生成，否则手机丢失后将无法登录。",
	"%s are left.":            "还剩 %s 个。",
	"Make new recovery codes": "生成新的恢复码",
	"The old ones end then.":  "旧的恢复码将随之失效。",
	"Trusted browsers":        "受信任的浏览器",
	"Where you have chosen not to be asked again, you can be asked again.": "对于您选择不再询问的浏览器，可以恢复询问。",
	"Ask in every browser again": "在所有浏览器中重新询问",
	"Change something":           "进行更改",
	"To change something here, sign in once more, so that we know it is " +
		"you.": "如需更改，请再次登录以确认是您本人。",
	"A second factor is required here. Set it up now, and your sign-in goes " +
		"on.": "此处需要两步验证。请立即设置，随后继续登录。",
	"It takes the place of the app that you have, whose codes " +
		"end.": "它将取代您现有的应用，原有验证码随即失效。",
	"Open an authenticator app on your phone, and let it add an " +
		"account.": "在手机上打开身份验证器应用，选择添加账户。",
	"Scan this code with it, or type in the key " +
		"below.": "用它扫描此二维码，或输入下方的密钥。",
	"Type in the six digits that it " +
		"shows.": "输入它显示的六位数字。",
	"The key, if you cannot scan:": "无法扫描时，请输入密钥：",
	"QR code for your authenticator " +
		"app": "供身份验证器应用扫描的二维码",
	"Type in the code that the app " +
		"shows.": "请输入应用显示的验证码。",
	"The code is not right. Check that the clock of your phone is, and type in the code that the app shows " +
		"now.": "验证码不正确。请确认手机时间准确，并输入应用当前显示的验证码。",
	"Another app was set up meanwhile, so this one was not. Remove it from your phone if it is of no " +
		"use.": "其间已设置了另一个应用，因此本次未生效。如不再需要，请将其从手机中删除。",
	"A second factor was set up meanwhile. Sign in again and use " +
		"it.": "其间已设置了第二步验证。请重新登录并使用它。",
	"Sign in once more, so that we know it is you. Then set up your second " +
		"factor.": "请再次登录以确认是您本人，然后设置两步验证。",
	"A second factor is required of you, and this is your only one. For another phone, set up its app instead: it takes " +
		"the place of this one.": "您需要保持两步验证，而这是您唯一的方式。如需更换手机，请直接在新手机上设置，它会取代现有的应用。",
	"Your recovery codes": "您的恢复码",
	"Print them, or copy them to a safe place: they are shown this once, and we do not keep " +
		"them.": "请打印，或复制到安全的地方：恢复码仅显示这一次，我们不会保存。",
	"Each signs you in once, if your phone is lost:": "手机丢失时，每个恢复码可登录一次：",
	"Whoever has one and your password can sign in as you. Keep them " +
		"apart.": "他人若同时持有恢复码和您的密码，即可以您的身份登录。请分开保管。",
	"I have kept them: continue": "我已保存，继续",
	"Set up a second factor":     "设置两步验证",
	"From %s on, your sign-in takes a second factor, such as the code of an app on your phone. It is set up in two " +
		"minutes.": "自 %s 起，您登录时需要第二步验证，例如手机应用中的验证码。设置只需两分钟。",
	"Browsers keep no passkeys for an address without a name. On this machine, use %s as the address of the " +
		"service.": "浏览器不会为没有名称的地址保存通行密钥。在本机上，请将服务地址设为 %s。",
	"Set up now": "立即设置",
	"Later":      "以后再说",
	"An authenticator app was set up for your sign-in.":      "您的登录已设置身份验证器应用。",
	"The authenticator app was removed.":                     "身份验证器应用已移除。",
	"New recovery codes were made; the old ones have ended.": "已生成新的恢复码，旧的已失效。",
	"Every browser is asked for the second factor again.":    "所有浏览器都将重新要求第二步验证。",
}
