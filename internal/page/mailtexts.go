package page

// mailTexts are those of the emails, and of the pages that emails lead to.
var mailTexts = map[string]string{
	// Signing in by mail, confirming an address, setting a new password.
	"Sign in with email": "使用邮箱登录",
	"We send a code to your address. You need no password.": "我们会向您的邮箱发送验证码，无需密码。",
	"Email address": "邮箱地址",
	"Send the code": "发送验证码",
	"Back":          "返回",
	"This is not an email address. Check it for mistakes; it looks like name@example.com.": "邮箱地址格式不正确。请检查，格式如 " +
		"name@example.com。",
	"Type in the code": "输入验证码",
	"If this address can be used here, a code of six digits is on its way to it. It is valid for 10 " +
		"minutes.": "如果此邮箱可在此使用，您将收到一个六位数字的验证码，10 分钟内有效。",
	"Code":            "验证码",
	"New password":    "新密码",
	"Send a new code": "重新发送验证码",
	"At least 8 characters. A few words in a row are hard to guess and easy to " +
		"remember.": "至少 8 个字符。由几个词语组成的密码不易被猜到，又便于记忆。",
	"The code has six digits. You will find it in the email.": "验证码为六位数字，请查看邮件。",
	"The code is not right. Check it and try again.":          "验证码不正确。请检查后重试。",
	"This code has ended":                                     "验证码已失效",
	"A code works once, for 10 minutes, for five tries and in the browser that asked for it. Ask for a new " +
		"one.": "验证码只能使用一次，10 分钟内有效，最多可尝试五次，且只能在获取它的浏览器中使用。请重新获取。",
	"Ask for a new code": "重新获取验证码",
	"A code was asked for a moment ago. Look for it in your mail, also among spam, or ask again in %s " +
		"seconds.": "刚刚已获取过验证码。请查看邮箱（包括垃圾邮件），或在 %s 秒后重试。",
	"Too many codes were asked for. Ask again in %s " +
		"minutes.": "获取验证码的次数过多。请在 %s 分钟后重试。",
	"You have few recovery codes left. Make new ones before you need " +
		"them.": "您的恢复码所剩不多，请在需要之前生成新的恢复码。",
	"Since %s":               "自 %s 起",
	"Passkey":                "通行密钥",
	"Your passkeys":          "您的通行密钥",
	"Add a passkey":          "添加通行密钥",
	"Use a passkey":          "使用通行密钥",
	"Sign in with a passkey": "使用通行密钥登录",
	"A passkey signs you in with your device in place of a password: with a finger, your face or a PIN. It works on " +
		"this site alone, so nobody can trick you out of it.": "通行密钥让您用自己的设备代替密码登录：用指纹、面容或 PIN 码确认即可。它只在本网站有效，不会被骗走。",
	"Added %s":                  "添加于 %s",
	"Synced among your devices": "在您的设备间同步",
	"On one device":             "仅在一台设备上",
	"Rename":                    "重命名",
	"To change your passkeys, sign in once more, so that we know it is you. Then come back " +
		"here.": "要更改通行密钥，请再登录一次，以便我们确认是您本人，然后回到此页。",
	"You have %s passkeys, and there may be no more. Remove one that is not needed " +
		"first.": "您已有 %s 个通行密钥，已达上限。请先移除不再需要的。",
	"Where it is, such as your phone or the key on your key " +
		"ring.": "它在哪里，例如您的手机或钥匙扣上的安全密钥。",
	"There was no passkey. Try again, or use another " +
		"device.": "没有得到通行密钥。请重试，或换一台设备。",
	"There was no passkey. Try again, or sign in another " +
		"way.": "没有得到通行密钥。请重试，或用其他方式登录。",
	"This browser cannot make passkeys, or runs no " +
		"scripts.": "此浏览器无法创建通行密钥，或未启用脚本。",
	"This browser cannot use your passkeys, or runs no " +
		"scripts.": "此浏览器无法使用您的通行密钥，或未启用脚本。",
	"This takes a passkey, and you have none here. Sign in on your account page, add one, then try " +
		"again.": "此操作需要通行密钥，而您在这里还没有。请登录您的账户页添加一个，然后重试。",
	"Give the passkey a name. It has 100 letters at most, and fewer if they are " +
		"Chinese.": "请为通行密钥命名，最多 33 个汉字。",
	"The passkey could not be added. Try " +
		"again.": "无法添加通行密钥，请重试。",
	"This passkey is there already, or you have as many as there may " +
		"be.": "该通行密钥已存在，或数量已达上限。",
	"Your passkey is kept in another way than when you added it; perhaps it is synced now. Sign in another way, remove " +
		"it and add it again.": "此通行密钥的保存方式与添加时不同，可能已同步到其他设备。请用其他方式登录，然后删除并重新添加。",
	"Your browser sends two cookies named open_sso_token, so you would not stay signed in: another site of the same " +
		"domain has set one. Delete the cookies of this domain in the settings of your browser, and then sign " +
		"in.": "您的浏览器发送了两个名为 open_sso_token 的 Cookie，因此无法保持登录：同一域名下的另一个网站设置了其中一个。请在浏览器设置中删除该域名的 Cookie，然后再登录。",
	"The passkey was not accepted. Try " +
		"again.": "通行密钥未被接受，请重试。",
	"The passkey was not accepted. Try again, or sign in another " +
		"way.": "通行密钥未被接受。请重试，或用其他方式登录。",
	"A second factor is required of you, and this is your only one. Add another one " +
		"first.": "您必须使用第二步验证，而这是唯一的一种。请先添加另一种。",
	"One of your passkeys may have been copied. If you have not restored a device, remove it and add a new " +
		"one.": "您的一个通行密钥可能被复制了。如果您没有恢复过设备，请移除它并添加新的。",
	"Passkey added":          "已添加通行密钥",
	"Passkey renamed":        "已重命名通行密钥",
	"Passkey removed":        "已移除通行密钥",
	"Confirm that it is you": "确认是您本人",
	"Changes need a sign-in of the last ten minutes. What you typed is " +
		"kept.": "更改需要在最近十分钟内登录过。您填写的内容已保留。",
	"Changes need a sign-in of the last ten minutes. What you typed could not be kept: go back in your browser " +
		"afterwards, and send it once more.": "更改需要在最近十分钟内登录过。您填写的内容未能保留：确认后请在浏览器中返回，并重新提交。",
	"A trusted browser is spared your second factor only where you sign in to an application. This page takes " +
		"it.": "受信任的浏览器只在登录应用时免除第二步验证，此页面需要验证。",
	"Your form goes on": "继续提交您的表单",
	"Nothing is done yet. If somebody else has sent this while you were away, do not " +
		"continue.": "尚未进行任何更改。如果这是他人在您离开时提交的，请不要继续。",
	"Do not do this":              "不要这样做",
	"Details":                     "详情",
	"(not shown)":                 "（不显示）",
	"Allow an application":        "授权应用",
	"Make an API key":             "创建 API 密钥",
	"Unlink a way to sign in":     "解除一种登录方式",
	"Forget the trusted browsers": "清除受信任的浏览器",
	"Rename a passkey":            "重命名通行密钥",
	"Remove a passkey":            "移除通行密钥",
	"name":                        "名称",
	"what":                        "范围",
	"days":                        "天数",
	"address":                     "地址",
	"method":                      "方式",
	"passkey":                     "通行密钥",
	"current":                     "当前密码",
	"confirm":                     "确认",
	"What you typed was kept for ten minutes, for you and in the browser that you typed it in, and is not here. Nothing " +
		"was done. Open the page and fill in the form once more.": "您填写的内容只为您本人、在您填写时使用的浏览器中保留十分钟，这里没有。未进行任何更改。请打开页面重新填写。",
	"Code of your authenticator app":                                           "身份验证器应用中的验证码",
	"For 30 days, do not ask in this browser when I sign in to an application": "30 天内在此浏览器中登录应用时不再询问",
	"Use a recovery code":                                                      "使用恢复码",
	"Recovery code":                                                            "恢复码",
	"Each code works once. You got them when you set this up.":                 "每个恢复码只能用一次。设置时已显示给您。",
	"Type in a code.":                                                          "请输入验证码。",
	"A recovery code was used to sign in.":                                     "有人使用恢复码登录了您的账户。",
	"Confirm an email address":                                                 "验证邮箱地址",
	"Somebody knows how you sign in, and typed wrong codes of your second factor. If it was not you, change your " +
		"password. Wrong codes so far": "有人通过了您的第一步登录，并输入了错误的第二步验证码。如果不是您本人，请修改密码。错误次数",
	"Somebody typed wrong codes of your second factor. Those of your app rest until you use a recovery code or a " +
		"passkey, or a code by email first. Wrong codes so " +
		"far": "有人多次输入错误的第二步验证码。应用验证码已暂停使用，直到您使用恢复码、通行密钥，或先通过邮件验证码登录。错误次数",
	"Somebody typed so many wrong codes of your second factor that no code is taken any more. Ask the operator to let " +
		"you in. Wrong codes so far": "错误的第二步验证码过多，已不再接受任何验证码。请联系管理员。错误次数",
	"So many wrong codes were typed for this account that none is taken any more. Ask the operator of this service to " +
		"let you in.": "此账户的错误验证码过多，已不再接受任何验证码。请联系本服务的管理员。",
	"Too many wrong codes were typed for this account, so those of the authenticator app are not taken here now. If it " +
		"was not you, change your password once you are in.": "此账户的错误验证码过多，目前不接受身份验证器应用的验证码。如果不是您本人所为，请在登录后修改密码。",
	"After a sign-in with a code by email they " +
		"are.": "先通过邮件验证码登录，之后即可使用应用验证码。",
	"Use a recovery code or a passkey, or ask the operator of this service to let you " +
		"in.": "请使用恢复码或通行密钥，或联系本服务的管理员。",
	"With it you can sign in, and set a new password if you forget " +
		"yours.": "验证后可用邮箱登录，忘记密码时也可以重新设置。",
	"This email address belongs to another account here. Sign in with it, or give another " +
		"address.": "该邮箱地址属于另一个账户。请使用该邮箱登录，或填写其他地址。",
	"You cannot sign in with this email address. Ask the operator " +
		"why.": "无法使用此邮箱地址登录。请向管理员询问原因。",
	"Forgotten your password?": "忘记密码？",
	"Set a new password":       "设置新密码",
	"Give the email address you have confirmed here. We send a code to it.": "请填写您在此验证过的邮箱地址，我们会向该邮箱发送验证码。",
	"Save the new password": "保存新密码",

	// Texts of the emails.
	"Your code to sign in":            "您的登录验证码",
	"Your code to set a new password": "您的重置密码验证码",
	"Confirm your email address":      "请验证您的邮箱地址",
	"Your code is %s":                 "您的验证码是 %s",
	"It is valid for 10 minutes and works once. Type it in only at %s, on the page where you asked for it, and tell it " +
		"to nobody.": "验证码 10 分钟内有效，只能使用一次。请仅在 %s 上获取验证码的页面输入，不要告诉任何人。",
	"If you did not ask for it, somebody may have mistaken your address for theirs. You need do " +
		"nothing.": "如果不是您本人获取的，可能是他人误填了您的邮箱地址，您无需进行任何操作。",

	// Mails about what was done.
	"New sign-in at %s": "%s 上的新登录",
	"Somebody signed in as you at %s in a browser that you had not signed in with " +
		"before.": "有人在 %s 以您的身份登录，使用的是您此前未登录过的浏览器。",
	"A way to sign in was changed at %s":                               "您在 %s 的登录方式已更改",
	"A way to sign in to your account at %s was added or removed.":     "您在 %s 的账户新增或移除了一种登录方式。",
	"Your account at %s was changed":                                   "您在 %s 的账户已更改",
	"Your account at %s was changed.":                                  "您在 %s 的账户已更改。",
	"A secret of your application at %s":                               "您在 %s 的应用密钥",
	"A secret of one of your applications at %s was rotated or shown.": "您在 %s 的某个应用的密钥已被更换或查看。",
	"Your application at %s was changed":                               "您在 %s 的应用已更改",
	"One of your applications at %s was changed.":                      "您在 %s 的某个应用已更改。",
	"Tools that you offer at %s have changed":                          "您在 %s 提供的工具有变动",

	"The upstream of one of your capabilities at %s has changed its tools. Agents go on with those that you have " +
		"accepted.": "您在 %s 的某个能力的上游更改了其工具。智能体仍使用您已接受的版本。",

	"What has changed is held. Look at the difference at %s, and accept what you want.": "变动的内容已被暂存。请在 %s 查看差异，并接受您需要的部分。",

	"Capability": "能力",

	"Your rights at %s were changed":  "您在 %s 的权限已更改",
	"Your rights at %s were changed.": "您在 %s 的权限已更改。",
	"%s: %s":                          "%s：%s",
	"What":                            "内容",
	"When":                            "时间",
	"From":                            "来源",
	"Browser":                         "浏览器",
	"Added":                           "新增",
	"Removed":                         "移除",
	"The password was changed, and you were signed out everywhere else.": "密码已修改，其他设备均已退出登录。",
	"The email address was changed.":                                     "邮箱地址已更改。",
	"An email address was added.":                                        "已新增邮箱地址。",
	"If it was you, you need do nothing. If it was not, sign in at %s, sign out everywhere, set a new password, and " +
		"tell the operator.": "如果是您本人操作，无需理会。如果不是，请在 %s 登录，退出所有设备，设置新密码，并告知管理员。",
	"So much was done within an hour that you will get no more emails about it until the hour is " +
		"over.": "一小时内的操作过多，在这一小时结束之前不会再向您发送此类邮件。",
}
