#!/bin/bash
# trim.sh TREE: turns an unpacked Debian tree into the read-only image a sandbox sees.
# Works from outside with plain file operations, so that an ordinary user can do it too.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$1

remove_packages() {
  local package list path
  while read -r package; do
    # Multi-arch packages keep their list under NAME:ARCH.
    for list in "$tree/var/lib/dpkg/info/$package.list" "$tree/var/lib/dpkg/info/$package":*.list; do
      [ -e "$list" ] || continue
      while read -r path; do
        # A folder stays, and so does /bin, which is a link to one.
        [ -d "$tree$path" ] || rm -f "$tree$path"
      done <"$list"
    done
  done < <(sed -n 's/^-\([^ ]*\).*/\1/p' "$here/packages.list")
}

# What a program never needs and a person could misuse or wonder at.
remove_paths() {
  cd "$tree"
  rm -rf boot home media mnt opt root srv sys run tmp proc dev workspace \
    var/{backups,cache,lib,local,log,mail,opt,spool,tmp} \
    etc/{adduser.conf,apt,cron*,debconf.conf,default,deluser.conf,dpkg,ethertypes,fstab,group-,gshadow*} \
    etc/{hostname,hosts,init.d,issue*,kernel,login.defs,logrotate.d,machine-id,mailcap*,motd,mtab,pam*,passwd-} \
    etc/{python3.11,rc*.d,resolv.conf,securetty,security,shadow*,shells,skel,subgid*,subuid*,systemd,terminfo,update-motd.d,.pwd.lock} \
    usr/{games,include,src,local,libexec} \
    usr/share/{applications,base-files,base-passwd,bash-completion,binfmts,bug,common-licenses,debconf,debianutils} \
    usr/share/{doc,doc-base,gcc,gdb,info,libgcrypt20,lintian,locale,man,menu,numpy3,pam*,perl*,pixmaps,polkit-1,python3} \
    usr/share/{systemtap,zoneinfo/right,zsh} \
    usr/lib/{apt,binfmt.d,dpkg,init,mime,systemd,sysusers.d,tmpfiles.d,udev,valgrind} \
    usr/lib/*-linux-gnu/{krb5,perl*,security} \
    usr/bin/{acorn,bashbug,c_rehash,catchsegv,chardet*,deb-systemd-*,dh_numpy3,f2py*,ischroot,ld.so,localedef} \
    usr/bin/{normalizer,pager,pdb3*,pldd,py3clean,py3compile,py3versions,pydoc3*,pygettext3*,savelog,tzselect,zdump} \
    usr/sbin/{add-shell,chroot,iconvconfig,installkernel,*-passwd,policy-rc.d,remove-shell,rmt*,tarcat,update-*,zic} \
    usr/lib/python3/dist-packages/pandas/tests usr/lib/python3.11/{EXTERNALLY-MANAGED,sitecustomize.py,test}
  # Test suites that only a maintainer of the library runs: a fifth of the Python files.
  find usr/lib/python3/dist-packages/numpy -type d -name tests -prune -exec rm -rf {} +
  find usr/lib/python3/dist-packages usr/lib/python3.11 -type d -name __pycache__ -prune -exec rm -rf {} +
  remove_dangling_links
  find etc usr -type d -empty -delete
  cd - >/dev/null
}

# Left by the above: alternatives of editors and pagers, links of services. An absolute link
# means a place in the tree, never one of the machine that builds it.
remove_dangling_links() {
  local link destination
  while IFS=$'\t' read -r link destination; do
    case $destination in
      /*) destination=.$destination ;;
      *) destination=$(dirname "$link")/$destination ;;
    esac
    [ -e "$destination" ] || [ -L "$destination" ] || rm "$link"
  done < <(find etc usr -type l -printf '%p\t%l\n')
}

write_etc() {
  # Mount points of the server, and the only folders that are empty on purpose.
  mkdir -p "$tree"/{proc,dev,tmp,workspace,opt/asg,run,var/lib,usr/local/bin}
  ln -sfn /tmp "$tree/var/tmp"
  ln -sfn /run "$tree/var/run"
  ln -sfn python3 "$tree/usr/bin/python"
  cat >"$tree/etc/passwd" <<'P'
root:x:0:0:root:/nonexistent:/bin/sh
sandbox:x:1000:1000::/workspace:/bin/sh
nobody:x:65534:65534:nobody:/nonexistent:/bin/sh
P
  printf 'root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n' >"$tree/etc/group"
  printf '127.0.0.1 localhost sandbox\n::1 localhost ip6-localhost ip6-loopback\n' >"$tree/etc/hosts"
  echo sandbox >"$tree/etc/hostname"
  ln -sfn /usr/share/zoneinfo/Etc/UTC "$tree/etc/localtime"
  echo Etc/UTC >"$tree/etc/timezone"
  cat >"$tree/etc/nsswitch.conf" <<'N'
passwd:    files
group:     files
shadow:    files
hosts:     files dns
networks:  files
protocols: files
services:  files
N
}

# The server reads the tree under another user id than the one that built it,
# and nothing in it may raise anyone's privilege.
fix_modes() {
  find "$tree" -type d -exec chmod 0755 {} +
  find "$tree" -type f -exec chmod u+rw,go+r,go-w,ug-s {} +
}

remove_packages
remove_paths
write_etc
fix_modes
