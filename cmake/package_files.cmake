# cpack runs this script before it packs. The script adds a copyright file and a changelog to each package, and
# compresses its manual pages.

find_program(GZIP gzip REQUIRED)
foreach(component IN ITEMS Programs Modules Development)
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${component})
  if(NOT IS_DIRECTORY ${root})
    continue()
  endif()
  set(documents ${root}/usr/share/doc/${package})
  file(READ ${CPACK_C63_SOURCE_DIR}/LICENSE licence)
  file(WRITE ${documents}/copyright "${licence}")
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(WRITE ${documents}/changelog
    "${package} (${CPACK_PACKAGE_VERSION}) stable; urgency=medium\n\n  * See CHANGELOG.md of the sources.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  file(GLOB manuals ${root}/usr/share/man/man1/*.1)
  execute_process(COMMAND ${GZIP} -9nf ${documents}/changelog ${manuals} COMMAND_ERROR_IS_FATAL ANY)
  file(CHMOD ${documents}/copyright ${documents}/changelog.gz PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endforeach()
