package page

// signInTexts are those of the frame of all pages, and of those on which users sign in, sign up and sign out.
var signInTexts = map[string]string{
	// The frame and the pages of what cannot go on.
	"Secured by Keystile": "由 Keystile 提供安全登录",
	"Status %s":           "状态码 %s",

	"This request cannot go on":                    "此请求无法继续",
	"There is no such page":                        "页面不存在",
	"Check the address.":                           "请检查网址。",
	"client_id is not that of an application here": "client_id 不属于在此注册的应用",
	"this application is disabled":                 "该应用已被停用",
	"this application comes from a host that is not on the list of this service: use another application, or ask the " +
		"operator of this service to trust its host": "该应用所在的主机不在本服务的名单上：请使用其他应用，或请本服务的运营者信任该主机",
	"the operator of this service does not admit applications from this host: use another application, or ask the " +
		"operator": "本服务的运营者不接受来自该主机的应用：请使用其他应用，或联系运营者",
	"client_id is the URL of a document, and applications that are not registered here are not admitted: ask the " +
		"operator of this service to register it": "client_id 是一个文档的网址，而本服务不接受未在此注册的应用：请联系本服务的运营者注册该应用",
	"too many applications are looked up for your network at this moment: wait before you try " +
		"again.": "此刻为您所在网络查询的应用过多：请稍候再试。",
	"this application cannot be used here because of what its own document says: tell who makes " +
		"it": "由于该应用自身文档的内容，无法在此使用它：请告知其开发者",
	"this application could not be looked up: try again in a " +
		"minute": "无法查询该应用：请一分钟后重试",
	"redirect_uri is not allowed": "redirect_uri 不被允许",
	"this form of another site is too long: send at most 16 KiB, or the same by GET": "来自其他网站的此表单过长：请发送不超过 16 KiB " +
		"的内容，或改用 GET",

	"Try again in a second.":   "请在一秒后重试。",
	"Try again in %s seconds.": "请在 %s 秒后重试。",
	"Try again in %s minutes.": "请在 %s 分钟后重试。",
	"Try again in %s hours.":   "请在 %s 小时后重试。",

	// The sign-in page.
	"Sign in":        "登录",
	"Sign in to %s":  "登录 %s",
	"Sign-in failed": "登录失败",
	"The application asks for the person who was signed in to it before: sign in as that " +
		"person.": "应用要求由之前登录过它的人登录：请以该用户的身份登录。",
	"Username":                "用户名",
	"Password":                "密码",
	"You will continue to %s": "登录后将前往 %s",
	"The username or the password is not right. Check both and try again.": "用户名或密码不正确。请检查后重试。",
	"Type in your username and your password.":                             "请输入用户名和密码。",
	"Type in your current password.":                                       "请输入当前密码。",

	// Other ways in.
	"Other ways to sign in": "其他登录方式",

	// Other providers.
	"Sign in with WeChat":   "使用微信登录",
	"Sign in with QQ":       "使用 QQ 登录",
	"Sign in with Alipay":   "使用支付宝登录",
	"Sign in with Douyin":   "使用抖音登录",
	"Link WeChat":           "绑定微信",
	"Link QQ":               "绑定 QQ",
	"Link Alipay":           "绑定支付宝",
	"Link Douyin":           "绑定抖音",
	"Sign in with Feishu":   "使用飞书登录",
	"Sign in with WeCom":    "使用企业微信登录",
	"Sign in with DingTalk": "使用钉钉登录",
	"Link Feishu":           "绑定飞书",
	"Link WeCom":            "绑定企业微信",
	"Link DingTalk":         "绑定钉钉",
	"Show password":         "显示密码",
	"Sign in with %s":       "使用 %s 登录",
	"Link %s":               "绑定 %s",
	"This sign-in was begun in another browser, or too long ago. Begin " +
		"again.": "此次登录是在其他浏览器中开始的，或已超时。请重新开始。",
	"This provider does not say that you have just signed in there, so it cannot confirm that it is you. Choose another " +
		"way.": "该第三方平台未说明您是否刚刚登录，因此无法确认是您本人。请选择其他方式。",
	"You have not allowed it there, so you are not signed in. Try again, or choose another " +
		"way.": "您没有在第三方平台授权，因此未登录。请重试，或选择其他方式。",
	"The provider does not know this sign-in any more. Begin " +
		"again.": "第三方平台已无法识别此次登录。请重新开始。",
	"The provider cannot say who you are at the moment. Try again shortly, or choose another " +
		"way.": "第三方平台暂时无法确认您的身份。请稍后重试，或选择其他方式。",
	"Only members of the organization can sign in this way, and the provider does not count you among them. Choose " +
		"another way, or ask whoever runs this service.": "只有组织成员才能以此方式登录，而第三方平台未将您识别为成员。请选择其他方式，或联系管理员。",
	"You cannot sign in here in this way. Choose another way, or ask whoever runs this " +
		"service.": "您无法以此方式登录。请选择其他方式，或联系管理员。",
	"Somebody else has signed in here meanwhile. Open your account page and begin " +
		"again.": "在此期间有其他人在此登录。请打开账户页面，重新开始。",
	"This is how somebody else signs in here already. Sign in as them and unlink it there " +
		"first.": "此登录方式已属于其他账户。请先登录该账户并解除绑定。",

	// The locked page.
	"Too many attempts": "尝试次数过多",
	"There were too many failed attempts for this account. Try again in %s seconds, or in a browser that you have " +
		"signed in with before.": "此账户登录失败次数过多。请在 %s 秒后重试，或使用之前登录过的浏览器。",
	"There were too many failed attempts from your network. Wait a minute, then sign in " +
		"again.": "您所在的网络登录失败次数过多。请等待一分钟后重新登录。",
	"There were too many failed attempts from your network. Wait %s minutes, then sign in " +
		"again.": "您所在的网络登录失败次数过多。请等待 %s 分钟后重新登录。",
	"There are too many attempts from your network at once. Wait a few seconds, then try " +
		"again.": "您所在的网络同时尝试登录的次数过多。请稍等几秒后重试。",
	"Back to sign-in": "返回登录",

	// The page of a signed-in user.
	"You are signed in": "您已登录",
	"Sign out":          "退出登录",

	// Changing a password.
	"Change your password": "修改密码",
	"You will be signed out everywhere else, also of the applications.": "其他设备和各应用都将退出登录。",
	"Current password": "当前密码",
	"The current password is not right. Check it and try again.":                "当前密码不正确。请检查后重试。",
	"Your password is changed":                                                  "密码已修改",
	"You are signed in here, and signed out everywhere else.":                   "当前设备保持登录，其他设备均已退出登录。",
	"You sign in without a password, so there is none to change.":               "您的账户没有设置密码，因此无需修改。",
	"The new password is too short. Choose one of at least 8 characters.":       "新密码太短。请至少使用 8 个字符。",
	"The new password is too long. Choose one of at most 1,024 characters.":     "新密码太长。请最多使用 1,024 个字符。",
	"The new password is among the first that are guessed. Choose another one.": "新密码过于常见，容易被猜到。请换一个。",
	"A username or an email address is no password. Choose another one.":        "不能使用用户名或邮箱地址作为密码。请换一个。",
	"This password cannot be used. Choose another one.":                         "不能使用此密码。请换一个。",

	// Signing up.
	"Create an account":                             "创建账户",
	"Code of your invitation":                       "邀请码",
	"Email address (if you like)":                   "邮箱地址（可选）",
	"Code of your invitation (if you are new here)": "邀请码（首次使用时填写）",
	"You are new here":                              "您是新用户",
	"Here people need an invitation to become users. Type in its code once; next time you sign in " +
		"without.": "此服务需凭邀请注册。请输入一次邀请码，下次登录无需再填。",
	"You have no account here, and this way does not open one. If you have an account, sign in to it in another way; " +
		"your account page then links this one. Otherwise ask whoever runs this service for an " +
		"account.": "您在此还没有账户，且此方式不开放注册。如已有账户，请用其他方式登录，再在账户页面关联此方式；否则请联系服务运营者开通账户。",
	"With it you can set a new password if you forget yours. We send a code to " +
		"it.": "忘记密码时，可用它重新设置密码。我们会向该邮箱发送验证码。",
	"This username is taken. Choose another one.": "该用户名已被使用。请换一个。",
	"This username cannot be used. Choose one of 1 to 100 visible characters.": "不能使用此用户名。请使用 1 " +
		"到 100 个可见字符。",
	"This username mixes writing systems that can be mistaken for each other. Use the letters of " +
		"one.": "此用户名混用了容易混淆的文字。请只使用一种文字的字母。",
	"Type in the code of your invitation. Who invited you has " +
		"it.": "请输入邀请码。您可以向邀请人索取。",
	"This invitation is not right, or has been used, or has ended. Check it, or ask for another " +
		"one.": "邀请码不正确、已被使用或已失效。请检查，或另行索取。",

	// The pages of signing out.
	"Sign out?": "要退出登录吗？",
	"You will be signed out here. Applications you are signed in to may stay open.": "您将在此退出登录。您已登录的应用可能仍保持登录状态。",
	"You are signed out":         "您已退出登录",
	"You can close this window.": "您可以关闭此窗口。",
	"Continue to %s":             "前往 %s",

	// Why the sign-in form is refused, and what else can go wrong there.
	"This form was sent from another site. Open the sign-in page itself and try " +
		"again.": "此表单来自其他网站。请直接打开登录页面后重试。",
	"The form could not be read. Open the sign-in page again and use the form on " +
		"it.": "无法读取此表单。请重新打开登录页面，并使用页面上的表单。",
	"A field of the form was sent twice. Open the sign-in page again and use the form on " +
		"it.": "表单中有字段重复提交。请重新打开登录页面，并使用页面上的表单。",
	"The form holds something that is not text. Open the sign-in page again and use the form on " +
		"it.": "表单中包含非文本内容。请重新打开登录页面，并使用页面上的表单。",
	"The form is too large. Open the sign-in page again and use the form on " +
		"it.": "表单过大。请重新打开登录页面，并使用页面上的表单。",
	"The request that brought you here is damaged. Go back to the application and start " +
		"again.": "将您带到此处的请求已损坏。请返回应用并重新开始。",
	"The request that brought you here is too long to sign in this way: it has %s bytes, and %s can be kept until you " +
		"come back. The longest part is %s with %s bytes. Sign in with your password, or ask whoever runs the application " +
		"to send less.": "将您带到此处的请求过长，无法以此方式登录：请求有 %s 字节，最多可保留 %s 字节。最长的部分是 %s，有 %s 字节。请使用密码登录，或请应用的运营者缩短请求。",
	"The request that brought you here is too long. Go back to the application and start " +
		"again.": "将您带到此处的请求过长。请返回应用并重新开始。",
	"Please try again shortly": "请稍后再试",
	"We cannot look you up at the moment. Wait a minute, then try again; nothing is " +
		"lost.": "暂时无法查询您的账户，您的数据不受影响。请稍等一分钟后重试。",
	"Too many people are signing in at this moment. Wait a few seconds, then try again; nothing is " +
		"lost.": "当前登录人数过多，您的数据不受影响。请等待几秒后重试。",
	"Something went wrong here": "服务出现问题",
	"This is our fault, not yours. Try again, and tell the operator the time if it " +
		"stays.": "这是我们的问题，与您无关。请重试；如仍未解决，请将发生时间告知管理员。",
}
