package page

// chinese is the one table of messages: the English text as it is written where it is
// used, and how zh-CN says it. A %s stays a %s.
var chinese = map[string]string{
	// The frame and the pages of what can not go on.
	"Secured by Keystile": "由 Keystile 提供安全登录",
	"Status %s":           "状态码 %s",

	"This request can not go on":                   "此请求无法继续",
	"client_id is not that of an application here": "client_id 不属于在此注册的应用",
	"this application is disabled":                 "该应用已被停用",
	"redirect_uri is not allowed":                  "redirect_uri 不被允许",
	"this form was sent from another site":         "此表单来自其他网站",

	// The sign-in page.
	"Sign in":                 "登录",
	"Sign in to %s":           "登录 %s",
	"Sign-in failed":          "登录失败",
	"Username":                "用户名",
	"Password":                "密码",
	"You will continue to %s": "登录后将前往 %s",
	"The username or the password is not right. Check both and try again.": "用户名或密码不正确。请检查后重试。",

	// Other ways in.
	"Other ways to sign in": "其他登录方式",

	// The locked page.
	"Too many attempts": "尝试次数过多",
	"There were too many failed attempts from your network. Wait a minute, then sign in again.":   "您所在的网络登录失败次数过多。请等待一分钟后重新登录。",
	"There were too many failed attempts from your network. Wait %s minutes, then sign in again.": "您所在的网络登录失败次数过多。请等待 %s 分钟后重新登录。",
	"There are too many attempts from your network at once. Wait a few seconds, then try again.":  "您所在的网络同时尝试登录的次数过多。请稍等几秒后重试。",
	"Back to sign-in": "返回登录",

	// The page of who is signed in.
	"You are signed in": "您已登录",
	"Sign out":          "退出登录",

	// The pages of signing out.
	"Sign out?": "要退出登录吗？",
	"You will be signed out here. Applications you are signed in to may stay open.": "您将在此退出登录。您已登录的应用可能仍保持登录状态。",
	"You are signed out":         "您已退出登录",
	"You can close this window.": "您可以关闭此窗口。",

	// Why the sign-in form is refused, and what else can go wrong there.
	"This form was sent from another site. Open the sign-in page itself and try again.":              "此表单来自其他网站。请直接打开登录页面后重试。",
	"The form could not be read. Open the sign-in page again and use the form on it.":                "无法读取此表单。请重新打开登录页面，并使用页面上的表单。",
	"A field of the form was sent twice. Open the sign-in page again and use the form on it.":        "表单中有字段重复提交。请重新打开登录页面，并使用页面上的表单。",
	"The form holds something that is not text. Open the sign-in page again and use the form on it.": "表单中包含非文本内容。请重新打开登录页面，并使用页面上的表单。",
	"The form is too large. Open the sign-in page again and use the form on it.":                     "表单过大。请重新打开登录页面，并使用页面上的表单。",
	"The request that brought you here is damaged. Go back to the application and start again.":      "将您带到此处的请求已损坏。请返回应用并重新开始。",
	"The request that brought you here is too long. Go back to the application and start again.":     "将您带到此处的请求过长。请返回应用并重新开始。",
	"Please try again shortly": "请稍后再试",
	"We can not look you up at the moment. Wait a minute, then try again; nothing is lost.": "暂时无法查询您的账户，您的数据不受影响。请稍等一分钟后重试。",
	"Something went wrong here": "服务出现问题",
	"This is our fault, not yours. Try again, and tell the operator the time if it stays.": "这是我们的问题，与您无关。请重试；如仍未解决，请将发生时间告知管理员。",
}
