# Installation, and two Debian packages by cpack: the server, and the runtime image that its sandboxes see.
#   cmake --build build --target package      both, in build/packages
include(GNUInstallDirs)
set(packaging ${PROJECT_SOURCE_DIR}/config/packaging)

install(TARGETS asg-sandbox DESTINATION bin COMPONENT server)
install(DIRECTORY ${PROJECT_BINARY_DIR}/runner/ DESTINATION lib/asg-sandbox/runner USE_SOURCE_PERMISSIONS COMPONENT server
  PATTERN __pycache__ EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/config/asg-sandbox.service DESTINATION lib/systemd/system COMPONENT server)
install(FILES ${packaging}/sysusers.conf DESTINATION lib/sysusers.d RENAME asg-sandbox.conf COMPONENT server)
install(FILES ${packaging}/copyright DESTINATION share/doc/asg-sandbox COMPONENT server)
install(DIRECTORY ${packaging}/examples DESTINATION share/doc/asg-sandbox COMPONENT server)
install(FILES ${PROJECT_SOURCE_DIR}/config/asg-sandbox.toml DESTINATION /etc/asg-sandbox COMPONENT server)

set(manual ${PROJECT_BINARY_DIR}/asg-sandbox.1.gz)
add_custom_command(OUTPUT ${manual} COMMAND gzip -9nc ${PROJECT_SOURCE_DIR}/config/asg-sandbox.1 > ${manual}
  DEPENDS ${PROJECT_SOURCE_DIR}/config/asg-sandbox.1 VERBATIM)
add_custom_target(asg_manual ALL DEPENDS ${manual})
install(FILES ${manual} DESTINATION share/man/man1 COMPONENT server)

# build/runtime is a link to the image that config/runtime/build.sh made (config/run.sh sets it).
install(CODE "
  file(REAL_PATH ${PROJECT_BINARY_DIR}/runtime image)
  if(NOT EXISTS \${image}/etc/asg-image.json)
    message(FATAL_ERROR \"no runtime image in ${PROJECT_BINARY_DIR}/runtime: config/run.sh or tests/run.sh makes it\")
  endif()
  file(INSTALL DESTINATION \${CMAKE_INSTALL_PREFIX}/lib/asg-sandbox/runtime TYPE DIRECTORY USE_SOURCE_PERMISSIONS
    MESSAGE_NEVER FILES \${image}/)" COMPONENT runtime)
install(FILES ${packaging}/copyright DESTINATION share/doc/asg-sandbox-runtime COMPONENT runtime)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME asg-sandbox)
set(CPACK_PACKAGE_VENDOR "asg-sandbox")
set(CPACK_PACKAGE_CONTACT "asg-sandbox maintainers <maintainers@users.noreply.invalid>")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)  # installed targets only, nothing of the image
set(CPACK_COMPONENTS_ALL server runtime)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_SERVER_PACKAGE_NAME asg-sandbox)
set(CPACK_COMPONENT_SERVER_DESCRIPTION "sandboxes for untrusted Python and JavaScript, served over MCP
An MCP server that runs each call in fresh Linux namespaces with limits of
memory, processor, processes, files and time.")
set(CPACK_DEBIAN_SERVER_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_SERVER_PACKAGE_DEPENDS "systemd, init-system-helpers")
set(CPACK_DEBIAN_SERVER_PACKAGE_RECOMMENDS "asg-sandbox-runtime")
set(CPACK_DEBIAN_SERVER_PACKAGE_CONTROL_EXTRA
  "${packaging}/server/conffiles;${packaging}/server/postinst;${packaging}/server/prerm;${packaging}/server/postrm")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME asg-sandbox-runtime)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "Python and Node as the sandboxes of asg-sandbox see them
A directory tree of its own with CPython 3.11, Node 18 and the libraries that
programs may expect. Nothing of it is used by the host.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA "${packaging}/runtime/postinst;${packaging}/runtime/prerm")
include(CPack)
