<?php
// An application that was written for an aggregated login: its class asks with appid and appkey in the query, and takes
// an answer whose code is 0 for a success. Run it with: php -S 127.0.0.1:PORT oldclient.php
// CONNECT is the address of connect.php with a ? behind it, APPID and APPKEY are the application's, BACK is the address
// of this page with /back, and SUCCESS is the code of a success, 0 unless it is set.

class Oauth
{
    private $connect;
    private $appid;
    private $appkey;
    private $callback;

    public function __construct($config)
    {
        $this->connect = $config['connect'];
        $this->appid = $config['appid'];
        $this->appkey = $config['appkey'];
        $this->callback = $config['callback'];
    }

    public function login($type)
    {
        $state = md5(uniqid((string) rand(), true));
        setcookie('state', $state, 0, '/');
        return $this->ask(array(
            'act' => 'login', 'appid' => $this->appid, 'appkey' => $this->appkey,
            'type' => $type, 'redirect_uri' => $this->callback, 'state' => $state,
        ));
    }

    public function callback()
    {
        return $this->ask(array(
            'act' => 'callback', 'appid' => $this->appid, 'appkey' => $this->appkey, 'code' => $_GET['code'],
        ));
    }

    public function query($type, $social_uid)
    {
        return $this->ask(array(
            'act' => 'query', 'appid' => $this->appid, 'appkey' => $this->appkey, 'type' => $type,
            'social_uid' => $social_uid,
        ));
    }

    private function ask($params)
    {
        return json_decode(file_get_contents($this->connect . http_build_query($params)), true);
    }
}

$success = getenv('SUCCESS') === false ? 0 : getenv('SUCCESS');
$oauth = new Oauth(array(
    'connect' => getenv('CONNECT'), 'appid' => getenv('APPID'), 'appkey' => getenv('APPKEY'),
    'callback' => getenv('BACK'),
));

function fails($answer)
{
    exit('failed: ' . (isset($answer['msg']) ? $answer['msg'] : 'no answer'));
}

if (parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) == '/login') {
    $answer = $oauth->login($_GET['type']);
    if (isset($answer['code']) && $answer['code'] == $success && !empty($answer['url'])) {
        exit(header('Location: ' . $answer['url']));
    }
    fails($answer);
}
if (!isset($_GET['code']) || !isset($_GET['state']) || $_GET['state'] != $_COOKIE['state']) {
    exit('failed: the state is not the one that was sent');
}
$answer = $oauth->callback();
if (!isset($answer['code']) || $answer['code'] != $success) {
    fails($answer);
}
$again = $oauth->query($_GET['type'], $answer['social_uid']);
header('Content-Type: application/json');
echo json_encode(array('redirect' => $_GET['type'], 'callback' => $answer, 'query' => $again));
