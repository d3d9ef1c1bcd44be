package page

// chinese holds the messages by subject: the English text as it is written where it is used, and how zh-CN says it.
// A %s stays a %s.
var chinese = []map[string]string{signInTexts, deviceTexts, consentTexts, accountTexts, factorTexts, mailTexts,
	landingTexts}
